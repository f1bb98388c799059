import type { PodUid } from '../base/ids.ts';
import type { ServiceAccountTokenProjection } from '../gen/kubernetes/types.ts';
import type { DesiredPod } from './desired-pod.ts';

/** Which token of a service account is wanted: whose, for whom, for how long. */
export interface TokenSpec {
  readonly namespace: string;
  readonly serviceAccount: string;
  /** The pod the token dies with. */
  readonly pod: { readonly name: string; readonly uid: PodUid };
  /** None: the API server's own. */
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
}

const usualSeconds = 3_600;

/** What one projection of a pod's volume asks for. */
export function tokenSpec(pod: DesiredPod, projection: ServiceAccountTokenProjection): TokenSpec {
  const { audience = '', expirationSeconds = usualSeconds } = projection;
  return {
    namespace: pod.namespace,
    serviceAccount: pod.spec.serviceAccountName ?? 'default',
    pod: { name: pod.name, uid: pod.uid },
    audiences: audience === '' ? [] : [audience],
    expirationSeconds,
  };
}

/** All tokens that the volumes of a pod show. */
export function tokenSpecs(pod: DesiredPod): readonly TokenSpec[] {
  return (pod.spec.volumes ?? []).flatMap(({ projected }) =>
    (projected?.sources ?? []).flatMap(({ serviceAccountToken: projection }) =>
      projection === undefined ? [] : [tokenSpec(pod, projection)],
    ),
  );
}
