/** How runtimes call the cgroup of a container: by its bare id with cgroupfs, as a scope with systemd. */
const schemes: readonly ((id: string) => string)[] = [
  (id) => id,
  (id) => `cri-containerd-${id}.scope`,
  (id) => `crio-${id}.scope`,
  (id) => `crio-${id}`,
];

/** Where runtimes put containers for which the agent names no parent cgroup. */
const defaultParents = ['/k8s.io', '/system.slice', ''];

/** Finds the cgroups of containers. A machine has one runtime, so the scheme that matched last is tried first. */
export class ContainerCgroups {
  #schemes = schemes;

  /** The result of `read` for the container's cgroup; undefined when there is none, or `read` finds nothing in it. */
  find<T>(
    podCgroup: string | undefined,
    id: string,
    read: (path: string, createdAt: number | undefined) => T | undefined,
    createdAt?: number,
  ): T | undefined {
    for (const parent of podCgroup === undefined ? defaultParents : [podCgroup]) {
      for (const scheme of this.#schemes) {
        const found = read(`${parent}/${scheme(id)}`, createdAt);
        if (found === undefined) continue;
        if (scheme !== this.#schemes[0]) this.#schemes = [scheme, ...schemes.filter((other) => other !== scheme)];
        return found;
      }
    }
    return undefined;
  }
}
