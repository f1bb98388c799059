import type { PodFullName, PodUid } from '../../base/ids.ts';
import type { Pod } from '../../gen/kubernetes/types.ts';
import type { Mirror, MirrorChange } from '../../model/api-client.ts';
import { isStatic, type DesiredPod } from '../../model/desired-pod.ts';

interface ApiPodChangesDeps {
  readonly pods: Pick<Mirror<Pod>, 'all'>;
  readonly source: { changed(): void };
  readonly mirrors: { set(mirrors: readonly Pod[]): readonly PodFullName[] };
  readonly hold: { release(): void };
  readonly writer: { changed(uid: PodUid): void; wake(uid: PodUid): void; retryAll(): void };
  readonly reconciler: { wake(fullName: PodFullName): void; wakeAll(): void };
  readonly starts: { observed(pod: Pod): void; forget(uid: PodUid): void };
  readonly desired: {
    all(): readonly DesiredPod[];
    get(uid: PodUid): DesiredPod | undefined;
    named(fullName: PodFullName): readonly DesiredPod[];
  };
}

/** Wakes the status writer, the mirror pod reconciler and the API source when pods, the node or a pod's lifecycle change. */
export class ApiPodChanges {
  readonly #deps: ApiPodChangesDeps;

  constructor(deps: ApiPodChangesDeps) {
    this.#deps = deps;
  }

  podsChanged(change: MirrorChange<Pod>): void {
    const { source, writer, starts } = this.#deps;
    source.changed();
    if (change.type === 'replaced') return this.#podsReplaced();
    const uid = change.object.metadata?.uid as PodUid | undefined;
    if (uid === undefined) return;
    if (change.type === 'removed') return starts.forget(uid);
    starts.observed(change.object);
    writer.wake(uid);
  }

  /** This node's object changed: mirror pods need it as owner, and the API source waits until it is known. */
  nodeChanged(): void {
    this.#deps.source.changed();
    this.#deps.reconciler.wakeAll();
  }

  /** The mirror pods among the pods of this node, all of them. */
  mirrorsListed(present: readonly Pod[]): void {
    const { mirrors, hold, writer, reconciler, desired } = this.#deps;
    for (const name of mirrors.set(present)) {
      reconciler.wake(name);
      for (const { uid } of desired.named(name)) writer.wake(uid);
    }
    hold.release();
  }

  statusChanged(uid: PodUid): void {
    const { writer, reconciler, desired } = this.#deps;
    writer.changed(uid);
    const pod = desired.get(uid);
    if (pod !== undefined && isStatic(pod)) reconciler.wake(pod.fullName);
  }

  lifecycleChanged(uid: PodUid): void {
    const { writer, reconciler, desired } = this.#deps;
    writer.wake(uid);
    const pod = desired.get(uid);
    if (pod === undefined || isStatic(pod)) reconciler.wakeAll();
  }

  /** The pods were listed anew: all are compared, because changes may have been missed. */
  #podsReplaced(): void {
    const { pods, writer, reconciler, starts, desired } = this.#deps;
    writer.retryAll();
    for (const { uid } of desired.all()) writer.wake(uid);
    for (const pod of pods.all()) starts.observed(pod);
    reconciler.wakeAll();
  }
}
