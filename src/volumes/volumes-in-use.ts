interface VolumesInUseDeps {
  /** Volumes that this process has set up. */
  readonly volumes: { attachable(): readonly string[] };
  /** Volumes that the disk has a record of; undefined before it was read. */
  readonly onRecord: readonly { inUse(): readonly string[] | undefined }[];
}

/** The volumes that a controller must not detach from this node, by the names that the node's status has for them. */
export class VolumesInUse {
  readonly #deps: VolumesInUseDeps;

  constructor(deps: VolumesInUseDeps) {
    this.#deps = deps;
  }

  /** Undefined before all of them are known: the controller would detach a volume that the list lacks while a pod uses it. */
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
