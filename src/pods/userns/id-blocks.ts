import type { PodUid } from '../../base/ids.ts';
import type { UserNamespaceBlock } from '../../model/namespaces.ts';

/** The host ids for pods, from `first` up to but without `end`, in blocks of one length. */
export interface IdSpace {
  readonly first: number;
  readonly end: number;
  readonly blockLength: number;
}

/** Ids below it are those of the host's own users; blocks begin and end at multiples of it. */
export const idUnit = 65_536;

/** The highest number of an id field is not an id, because the kernel reads it as "leave unchanged". */
export const idLimit = 2 ** 32 - 1;

/** How many pods can have users of their own at a time. */
export function blockCount({ first, end, blockLength }: IdSpace): number {
  return Math.max(0, Math.floor((end - first) / blockLength));
}

/**
 * The lowest block of the space that overlaps no allocated one. Allocated blocks may lie anywhere and be of any length:
 * they may come from another space, before the configuration changed.
 */
export function computeFreeBlock(space: IdSpace, held: Iterable<UserNamespaceBlock>): UserNamespaceBlock | undefined {
  const { first, end, blockLength } = space;
  let hostId = first;
  for (const block of [...held].toSorted((a, b) => a.hostId - b.hostId)) {
    if (hostId + blockLength <= block.hostId) break;
    const passed = Math.ceil((endOf(block) - first) / blockLength);
    hostId = Math.max(hostId, first + passed * blockLength);
  }
  return hostId + blockLength <= end ? { hostId, length: blockLength } : undefined;
}

/**
 * The ids allocated to each pod. No id belongs to two pods, and none to a pod and the host.
 *
 *   free ──allocate, claim──> held by a pod ──release──> free
 */
export class IdBlocks {
  readonly #held = new Map<PodUid, UserNamespaceBlock>();

  /** The block that the pod holds, or else the lowest free one; nothing when all are taken. */
  allocate(uid: PodUid, space: IdSpace): UserNamespaceBlock | undefined {
    const present = this.#held.get(uid);
    if (present !== undefined) return present;
    const block = computeFreeBlock(space, this.#held.values());
    if (block !== undefined) this.#held.set(uid, block);
    return block;
  }

  /** Allocates the pod a block that it had before; returns why not, when that cannot be. */
  claim(uid: PodUid, block: UserNamespaceBlock): string | undefined {
    const present = this.#held.get(uid);
    if (present !== undefined) {
      return sameBlock(present, block) ? undefined : `the pod already has the ids ${describeBlock(present)}`;
    }
    if (block.length < 1) return 'it has no ids';
    if (block.hostId < idUnit || endOf(block) > idLimit) return `no pod may have the ids ${describeBlock(block)}`;
    for (const [other, taken] of this.#held) {
      if (overlap(block, taken)) return `the ids ${describeBlock(block)} belong to pod ${other}`;
    }
    this.#held.set(uid, block);
    return undefined;
  }

  size(): number {
    return this.#held.size;
  }

  release(uid: PodUid): void {
    this.#held.delete(uid);
  }

  held(): ReadonlyMap<PodUid, UserNamespaceBlock> {
    return this.#held;
  }
}

function endOf({ hostId, length }: UserNamespaceBlock): number {
  return hostId + length;
}

function overlap(a: UserNamespaceBlock, b: UserNamespaceBlock): boolean {
  return a.hostId < endOf(b) && b.hostId < endOf(a);
}

function sameBlock(a: UserNamespaceBlock, b: UserNamespaceBlock): boolean {
  return a.hostId === b.hostId && a.length === b.length;
}

function describeBlock(block: UserNamespaceBlock): string {
  return `${block.hostId} to ${endOf(block) - 1}`;
}
