interface VolumesInUseDeps {
  /** What pods were given in this life. */
  readonly volumes: { attachable(): readonly string[] };
  /** Those that are on record on the disk as well; undefined before it was read. */
  readonly onRecord: readonly { inUse(): readonly string[] | undefined }[];
}

/** The volumes that a controller must not detach from this node, by the names that the node's status has for them. */
export class VolumesInUse {
  readonly #deps: VolumesInUseDeps;

  constructor(deps: VolumesInUseDeps) {
    this.#deps = deps;
  }

  /** Undefined before all of them are known: a list that lacks one would have it detached under a pod's hands. */
  names(): readonly string[] | undefined {
    const { volumes, onRecord } = this.#deps;
    const names = new Set(volumes.attachable());
    for (const source of onRecord) {
      const found = source.inUse();
      if (found === undefined) return undefined;
      for (const name of found) names.add(name);
    }
    return [...names];
  }
}
