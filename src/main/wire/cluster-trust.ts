import { Reflector, withoutManagedFields, type HttpApiClient } from '../../apiserver/index.ts';
import type { Clock } from '../../base/clock.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Heartbeats } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { ClusterTrustBundle } from '../../gen/kubernetes/types.ts';
import type { ApiResource } from '../../model/api-resources.ts';
import { TrustBundles, type BundleWatch, type TrustBundlesDeps } from '../../objects/index.ts';

export interface ClusterTrustDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly heartbeats: Heartbeats;
  readonly log: Log;
  readonly api: HttpApiClient;
  readonly signal: AbortSignal;
  readonly onChange: (uids: readonly PodUid[]) => void;
}

/** The certificates of authorities that the API server keeps, watched while pods use them. */
export function wireTrustBundles(deps: ClusterTrustDeps): TrustBundles {
  const { clock, log, api, onChange } = deps;
  return new TrustBundles({ clock, log, api, onChange, watch: (resource, told) => watchAll(deps, resource, told) });
}

function watchAll(
  { clock, random, log, heartbeats, api, signal }: ClusterTrustDeps,
  resource: ApiResource,
  told: Parameters<TrustBundlesDeps['watch']>[1],
): BundleWatch {
  const transform = withoutManagedFields;
  const reflector = new Reflector<ClusterTrustBundle>({ api, clock, random, log, heartbeats, resource, transform });
  reflector.listen(told);
  void reflector.start(signal);
  return {
    synced: () => reflector.synced(),
    lastError: () => reflector.lastError(),
    get: (name) => reflector.get({ name }),
    all: () => reflector.all(),
    stop: () => void reflector.stop(),
  };
}
