import type { PodUid } from '../../src/base/ids.ts';
import { podUid } from '../../src/base/ids.ts';
import { uidOf, type SimNode } from './node.ts';

/** What is remembered of a container after the runtime has forgotten it. */
interface ContainerRecord {
  readonly id: string;
  readonly uid: PodUid;
  readonly name: string;
  readonly sandboxId: string;
  readonly attempt: number;
  /** In which life of its manifest it was made. */
  readonly life: number;
  started: boolean;
  /** The agent has asked it to stop: from then on its end is not its own. */
  stopping: boolean;
  exitCode: number | undefined;
  /** The agent has looked at it since it ended. */
  seenEnded: boolean;
}

interface ManifestLife {
  number: number;
  removedAt: number | undefined;
}

/** The books of a run: what the runtime ever had, and when manifests came and went. Filled by looking at the world. */
export class Ledger {
  readonly containers = new Map<string, ContainerRecord>();
  /** Sandbox → life of its manifest in which it was made. */
  readonly sandboxes = new Map<string, { readonly uid: PodUid; readonly life: number }>();
  readonly #node: SimNode;
  readonly #manifests = new Map<PodUid, ManifestLife>();

  constructor(node: SimNode) {
    this.#node = node;
  }

  manifestAdded(uid: PodUid): void {
    this.#manifests.set(uid, { number: this.lifeOf(uid) + 1, removedAt: undefined });
  }

  manifestRemoved(uid: PodUid): void {
    const life = this.#manifests.get(uid);
    if (life !== undefined) life.removedAt = this.#node.now();
  }

  /** How often the manifest has been there, the present time included. */
  lifeOf(uid: PodUid): number {
    return this.#manifests.get(uid)?.number ?? 0;
  }

  removedAt(uid: PodUid): number | undefined {
    return this.#manifests.get(uid)?.removedAt;
  }

  /** Brings the books up to date; called after everything that may have changed the runtime. */
  look(): void {
    const { state } = this.#node.cri;
    for (const [id, { config }] of state.sandboxes) {
      if (this.sandboxes.has(id)) continue;
      const uid = podUid(config.metadata?.uid ?? '');
      this.sandboxes.set(id, { uid, life: this.lifeOf(uid) });
    }
    for (const [id, container] of state.containers) {
      const known = this.containers.get(id);
      const record = known ?? {
        id,
        uid: uidOf(container),
        name: container.config.metadata?.name ?? '',
        sandboxId: container.sandboxId,
        attempt: container.config.metadata?.attempt ?? 0,
        life: this.lifeOf(uidOf(container)),
        started: false,
        stopping: false,
        exitCode: undefined,
        seenEnded: false,
      };
      if (known === undefined) this.containers.set(id, record);
      record.started ||= container.state === 'running' || container.startedAt > 0n;
      if (container.state === 'exited') record.exitCode ??= container.exitCode;
    }
  }

  /** The agent got an answer about this container. */
  seen(id: string): void {
    const record = this.containers.get(id);
    if (record !== undefined && this.#node.cri.state.containers.get(id)?.state === 'exited') record.seenEnded = true;
  }

  stopping(id: string): void {
    const record = this.containers.get(id);
    if (record !== undefined && record.exitCode === undefined) record.stopping = true;
  }

  /** Containers of one name that this life of the manifest has had, oldest first. */
  instances(uid: PodUid, name: string, life = this.lifeOf(uid)): ContainerRecord[] {
    return [...this.containers.values()].filter(
      (record) => record.uid === uid && record.name === name && record.life === life,
    );
  }
}
