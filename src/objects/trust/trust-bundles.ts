import { linkedSignal, raceAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { isKind, TubeletError } from '../../base/errors.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { ClusterTrustBundle, ClusterTrustBundleProjection } from '../../gen/kubernetes/types.ts';
import type { ApiReader, MirrorChange } from '../../model/api-client.ts';
import type { PerPodState } from '../../model/pod-removal.ts';
import { apiResources, apiVersionOf, type ApiResource } from '../../model/api-resources.ts';
import type { ResourceInbox, RunningMirror } from '../ports.ts';
import { computeAnchors, concerns, projectionKey, type KnownBundles } from './compute-anchors.ts';

/** A watch of all bundles. */
interface BundleWatch extends KnownBundles {
  synced(): boolean;
  lastError(): string | undefined;
  stop(): void;
}

interface TrustBundlesDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly api: Pick<ApiReader, 'list'>;
  /** Begins to watch; calls `onChange` for the first list and every change. */
  readonly watch: (resource: ApiResource, onChange: (change: MirrorChange<ClusterTrustBundle>) => void) => BundleWatch;
  /** Wakes only the pods whose bundles may have changed. */
  readonly inbox: ResourceInbox;
}

/** Newest first. API servers serve them only where an operator has enabled them. */
const versions: readonly ApiResource[] = [
  apiResources.clusterTrustBundles,
  { ...apiResources.clusterTrustBundles, version: 'v1alpha1' },
];
const unsupported = 'ClusterTrustBundle projection is not supported';
const syncTimeoutMs = 10_000;

/**
 * The certificates of authorities that the API server keeps for pods.
 *
 *   unused ──anchors──> discovering the version ──> watching, one watch for all pods ──last pod removed──> unused
 */
export class TrustBundles implements Component, PerPodState {
  readonly name = 'trust-bundles';
  readonly #deps: TrustBundlesDeps;
  readonly #life = new AbortController();
  /** The projections of each pod, by key. */
  readonly #projections = new Map<PodUid, Map<string, ClusterTrustBundleProjection>>();
  readonly #texts = new Map<string, string>();
  #watch: BundleWatch | undefined;
  #opening: Promise<BundleWatch> | undefined;
  readonly #arrivals = new Set<() => void>();

  constructor(deps: TrustBundlesDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#life.abort(new TubeletError('cancelled', 'the agent stops'));
    this.#projections.clear();
    this.#close();
  }

  /** The certificates as PEM. Wakes the pod from now on when they may have changed, until it is removed. */
  async anchors(
    projection: ClusterTrustBundleProjection,
    { uid }: { readonly uid: PodUid },
    signal: AbortSignal,
  ): Promise<string> {
    signal.throwIfAborted();
    const key = projectionKey(projection);
    const projections = this.#projections.get(uid) ?? new Map<string, ClusterTrustBundleProjection>();
    this.#projections.set(uid, projections.set(key, projection));
    const watch = this.#watch ?? (await raceAbort(this.#opened(), signal));
    await this.#arrived(watch, signal);
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const text = computeAnchors(projection, watch);
    this.#texts.set(key, text);
    return text;
  }

  /** The pod is removed. The last pod ends the watch. */
  forget(uid: PodUid): void {
    if (!this.#projections.delete(uid)) return;
    this.#texts.clear();
    if (this.#projections.size === 0) this.#close();
  }

  size(): number {
    return this.#projections.size;
  }

  /** Concurrent callers share one discovery. */
  #opened(): Promise<BundleWatch> {
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined));
    return this.#opening;
  }

  async #open(): Promise<BundleWatch> {
    const resource = await this.#served();
    if (this.#projections.size === 0) throw new TubeletError('cancelled', 'the pods that wanted bundles are removed');
    this.#deps.log.info('ClusterTrustBundles are watched', { apiVersion: apiVersionOf(resource) });
    this.#watch = this.#deps.watch(resource, (change) => this.#changed(change));
    return this.#watch;
  }

  /** Does not cache that a version is missing: the next sync tries again, and the API server may serve it then. */
  async #served(): Promise<ApiResource> {
    for (const resource of versions) {
      try {
        // The list is empty; an answer means that the version is served.
        const fieldSelector = 'metadata.name=none';
        await this.#deps.api.list(resource, { fieldSelector, timeoutMs: syncTimeoutMs, signal: this.#life.signal });
        return resource;
      } catch (error) {
        if (!isKind(error, 'notFound')) throw error;
      }
    }
    const names = versions.map(apiVersionOf).join(' and ');
    throw new TubeletError('unsupported', `${unsupported}: the API server has no clustertrustbundles of ${names}`);
  }

  async #arrived(watch: BundleWatch, signal: AbortSignal): Promise<void> {
    if (watch.synced()) return;
    const limit = linkedSignal(signal, { clock: this.#deps.clock, ms: syncTimeoutMs });
    let arrived: (() => void) | undefined;
    try {
      const arrival = new Promise<void>((resolve) => this.#arrivals.add((arrived = resolve)));
      await raceAbort(arrival, limit.signal);
    } catch {
      signal.throwIfAborted();
      const reason = watch.lastError();
      const message = 'ClusterTrustBundle informer has not yet synced';
      throw new TubeletError('unavailable', reason === undefined ? message : `${message}: ${reason}`);
    } finally {
      if (arrived !== undefined) this.#arrivals.delete(arrived);
      limit.release();
    }
  }

  #changed(change: MirrorChange<ClusterTrustBundle>): void {
    if (change.type === 'replaced') {
      for (const arrived of this.#arrivals) arrived();
      return;
    }
    this.#texts.clear();
    const previous = change.type === 'put' ? change.previous : undefined;
    const bundles = [change.object, ...(previous === undefined ? [] : [previous])];
    const concerned = [...this.#projections].filter(([, projections]) =>
      [...projections.values()].some((projection) => bundles.some((bundle) => concerns(projection, bundle))),
    );
    if (concerned.length > 0) this.#deps.inbox.resourcesChanged(concerned.map(([uid]) => uid));
  }

  #close(): void {
    this.#watch?.stop();
    this.#watch = undefined;
    this.#texts.clear();
  }
}

export function bundleWatch(mirror: RunningMirror<ClusterTrustBundle>): BundleWatch {
  return {
    synced: () => mirror.synced(),
    lastError: () => mirror.lastError(),
    get: (name) => mirror.get({ name }),
    all: () => mirror.all(),
    stop: () => mirror.stop(),
  };
}

/** For a node that has an API server and may not use bundles. */
export function refusedTrust(reason: string): Pick<TrustBundles, 'anchors'> {
  return { anchors: () => Promise.reject(new TubeletError('unsupported', `${unsupported}: ${reason}`)) };
}
