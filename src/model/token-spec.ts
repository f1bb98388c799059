import type { PodUid } from '../base/ids.ts';
import type { ServiceAccountTokenProjection } from '../gen/kubernetes/types.ts';
import type { DesiredPod } from './desired-pod.ts';

/** The token of a service account to ask for: of which account, for which audiences, for how long. */
export interface TokenSpec {
  readonly namespace: string;
  readonly serviceAccount: string;
  /** The pod that the token is bound to: it ends with the pod. */
  readonly pod: { readonly name: string; readonly uid: PodUid };
  /** None: the API server's own. */
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
}

const defaultExpirationSeconds = 3_600;

/** What one projection of a pod's volume asks for. */
export function tokenSpec(pod: DesiredPod, projection: ServiceAccountTokenProjection): TokenSpec {
  const { audience = '', expirationSeconds = defaultExpirationSeconds } = projection;
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
