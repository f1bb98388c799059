/** How runtimes call the cgroup of a container: by its bare id with cgroupfs, as a scope with systemd. */
const schemes: readonly ((id: string) => string)[] = [
  (id) => id,
  (id) => `cri-containerd-${id}.scope`,
  (id) => `crio-${id}.scope`,
  (id) => `crio-${id}`,
];

/** Where runtimes put containers that nobody gave them a place for. */
const placesOfNobody = ['/k8s.io', '/system.slice', ''];

interface Place {
  readonly podCgroup: string | undefined;
  readonly path: string;
}

const mostPlaces = 4_096;

/** Finds the cgroups of containers. A machine has one runtime, so what was right last time is tried first. */
export class ContainerCgroups {
  #schemes = schemes;
  /** Where they were found; they stay there. */
  readonly #places = new Map<string, Place>();

  /** What `look`, given when the container was made, finds in its cgroup; undefined when there is none, or nothing in it. */
  find<T>(
    podCgroup: string | undefined,
    id: string,
    look: (path: string, createdAt: number | undefined) => T | undefined,
    createdAt?: number,
  ): T | undefined {
    const place = this.#places.get(id);
    const there = place !== undefined && place.podCgroup === podCgroup ? look(place.path, createdAt) : undefined;
    return there ?? this.#search(podCgroup, id, look, createdAt);
  }

  #search<T>(
    podCgroup: string | undefined,
    id: string,
    look: (path: string, createdAt: number | undefined) => T | undefined,
    createdAt: number | undefined,
  ): T | undefined {
    this.#places.delete(id);
    for (const parent of podCgroup === undefined ? placesOfNobody : [podCgroup]) {
      for (const scheme of this.#schemes) {
        const path = `${parent}/${scheme(id)}`;
        const found = look(path, createdAt);
        if (found === undefined) continue;
        if (this.#places.size >= mostPlaces) this.#places.clear();
        this.#places.set(id, { podCgroup, path });
        if (scheme !== this.#schemes[0]) this.#schemes = [scheme, ...schemes.filter((other) => other !== scheme)];
        return found;
      }
    }
    return undefined;
  }
}
