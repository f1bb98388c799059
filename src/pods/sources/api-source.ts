import { messageOf, TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Pod } from '../../gen/kubernetes/types.ts';
import { isMirrorPod } from '../../model/annotations.ts';
import type { Mirror } from '../../model/api-client.ts';
import { desiredPod, type DesiredPod, type PodSource } from '../../model/desired-pod.ts';
import { podFields } from '../../model/pod-log.ts';
import { validatePathNames } from '../../model/validation/index.ts';

interface ApiSourceDeps {
  readonly log: Log;
  /** The pods bound to this node, as the API server has them. */
  readonly pods: Mirror<Pod>;
  /** Whether this node's own object is known: admission reads its labels and taints, so no pod comes before it. */
  readonly nodeKnown: () => boolean;
  readonly onSet: (source: PodSource, pods: readonly DesiredPod[]) => void;
  /** The mirror pods among them: no worker runs those, they only show the static pods. */
  readonly onMirrors: (mirrors: readonly Pod[]) => void;
}

/** The pods that the API server has for this node. It publishes no set before pods and node have been listed once. */
export class ApiSource {
  readonly #deps: ApiSourceDeps;
  /** The same object makes the same value, so that a new set costs as much as its changes. */
  readonly #made = new WeakMap<Pod, DesiredPod | 'unusable'>();
  #scheduled = false;

  constructor(deps: ApiSourceDeps) {
    this.#deps = deps;
  }

  /** Something changed in the mirror of the pods, or the node became known. Changes of one turn are published together. */
  changed(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#publish();
    });
  }

  #publish(): void {
    const { pods, nodeKnown, onSet, onMirrors } = this.#deps;
    if (!pods.synced() || !nodeKnown()) return;
    const all = pods.all();
    onMirrors(all.filter(isMirror));
    const wanted = all.filter((pod) => !isMirror(pod)).map((pod) => this.#desired(pod));
    onSet(
      'api',
      wanted.filter((pod) => pod !== 'unusable'),
    );
  }

  #desired(pod: Pod): DesiredPod | 'unusable' {
    const known = this.#made.get(pod);
    if (known !== undefined) return known;
    const made = this.#make(pod);
    this.#made.set(pod, made);
    return made;
  }

  #make(pod: Pod): DesiredPod | 'unusable' {
    try {
      const [fault] = validatePathNames(pod);
      if (fault !== undefined) throw new TubeletError('invalid', `${describe(pod)}: ${fault.message}`);
      return desiredPod('api', pod);
    } catch (error) {
      this.#deps.log.warn('Leaving out a pod of the API server', {
        ...podFields(pod.metadata ?? {}),
        err: messageOf(error),
      });
      return 'unusable';
    }
  }
}

function isMirror({ metadata }: Pod): boolean {
  return metadata !== undefined && isMirrorPod(metadata);
}

function describe({ metadata }: Pod): string {
  return `pod ${JSON.stringify(`${metadata?.namespace}/${metadata?.name}`.slice(0, 320))}`;
}
