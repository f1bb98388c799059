/** How runtimes call the cgroup of a container: by its bare id with cgroupfs, as a scope with systemd. */
const schemes: readonly ((id: string) => string)[] = [
  (id) => id,
  (id) => `cri-containerd-${id}.scope`,
  (id) => `crio-${id}.scope`,
  (id) => `crio-${id}`,
];

/** Where runtimes put containers that nobody gave them a place for. */
const placesOfNobody = ['/k8s.io', '/system.slice', ''];

/** Finds the cgroups of containers. A machine has one runtime, so what was right last time is tried first. */
export class ContainerCgroups {
  #schemes = schemes;

  /** What `look`, given when the container was made, finds in its cgroup; undefined when there is none, or nothing in it. */
  find<T>(
    podCgroup: string | undefined,
    id: string,
    look: (path: string, createdAt: number | undefined) => T | undefined,
    createdAt?: number,
  ): T | undefined {
    for (const parent of podCgroup === undefined ? placesOfNobody : [podCgroup]) {
      for (const scheme of this.#schemes) {
        const found = look(`${parent}/${scheme(id)}`, createdAt);
        if (found === undefined) continue;
        if (scheme !== this.#schemes[0]) this.#schemes = [scheme, ...schemes.filter((other) => other !== scheme)];
        return found;
      }
    }
    return undefined;
  }
}
