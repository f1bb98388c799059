import { TubeletError } from '../base/errors.ts';
import type { PodUid } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { ConfigMap, Secret } from '../gen/kubernetes/types.ts';
import type { PerPodState } from '../model/pod-removal.ts';
import { objectKey, type DataObjectKind, type StandaloneObject } from '../model/standalone-object.ts';
import { computeObjects, type KnownObjects, type ObjectProblem } from './compute-objects.ts';
import type { PodObjects, ReferringPod, ResourceInbox } from './ports.ts';
import { referrers } from './references.ts';

interface StandaloneObjectsDeps {
  readonly log: Log;
  /** Wakes the pods that may see an object differently, after the new one can be read. */
  readonly inbox: ResourceInbox;
}

/** The ConfigMaps and Secrets of a node without an API server; the only writer of them. */
export class StandaloneObjects implements PodObjects, PerPodState {
  readonly #deps: StandaloneObjectsDeps;
  #objects: KnownObjects = new Map();
  #reported: ReadonlySet<string> = new Set();
  /** The pods that read objects here, as they were when they last did. */
  readonly #pods = new Map<PodUid, ReferringPod>();

  constructor(deps: StandaloneObjectsDeps) {
    this.#deps = deps;
  }

  /** Replaces all objects with the folder's complete set. */
  set(manifests: readonly StandaloneObject[]): void {
    const { objects, changed, problems } = computeObjects(this.#objects, manifests);
    this.#objects = objects;
    this.#report(problems);
    if (changed.length === 0) return;
    this.#deps.log.info('ConfigMaps and Secrets of the manifest folder changed', { objects: changed.map(objectKey) });
    const concerned = referrers(changed, this.#pods.values());
    if (concerned.length > 0) this.#deps.inbox.resourcesChanged(concerned);
  }

  /** All objects are in memory; a change of one that the pod names wakes it from now on. */
  async ready(pod: ReferringPod): Promise<void> {
    this.#pods.set(pod.uid, pod);
  }

  configMap(namespace: string, name: string): ConfigMap | undefined {
    return this.#get('ConfigMap', namespace, name);
  }

  /** With all values in `data`, in base64, also those of `stringData`. */
  secret(namespace: string, name: string): Secret | undefined {
    return this.#get('Secret', namespace, name);
  }

  /** What is not in the folder does not exist. */
  problem(): undefined {
    return undefined;
  }

  forget(uid: PodUid): void {
    this.#pods.delete(uid);
  }

  size(): number {
    return this.#pods.size;
  }

  #get(kind: DataObjectKind, namespace: string, name: string): ConfigMap | Secret | undefined {
    return this.#objects.get(objectKey({ kind, namespace, name }))?.object;
  }

  /** Logs each problem once, as the folder delivers its set again and again. */
  #report(problems: readonly ObjectProblem[]): void {
    const texts = problems.map(({ path, line, message }) => `${path}:${line}: ${message}`);
    for (const [index, problem] of problems.entries()) {
      const text = texts[index] ?? problem.message;
      if (this.#reported.has(text)) continue;
      this.#deps.log.error(new TubeletError('invalid', text), 'Bad manifest of an object', { ...problem });
    }
    this.#reported = new Set(texts);
  }
}
