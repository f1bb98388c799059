import { TubeletError } from '../base/errors.ts';
import type { PodUid } from '../base/ids.ts';
import type { ClusterTrustBundleProjection } from '../gen/kubernetes/types.ts';
import type { TokenSpec } from '../model/token-spec.ts';
import type { VolumePlace } from './ports.ts';

/** Tokens of service accounts. */
export interface TokenSource {
  get(spec: TokenSpec, signal: AbortSignal): Promise<{ readonly value: string }>;
}

/** Tokens of pods' service accounts for CSI drivers, which also need each token's expiry. */
export interface DriverTokens extends TokenSource {
  get(...request: Parameters<TokenSource['get']>): Promise<{ readonly value: string; readonly expiresAtMs: number }>;
}

/** Tokens for volumes, and when those of a pod should be renewed. */
export interface VolumeTokens extends DriverTokens {
  refreshInMs(uid: PodUid): number | undefined;
}

/** Without an API server no token can be requested. */
export class NoTokensError extends TubeletError {
  constructor() {
    super('unsupported', 'there is no API server that could give a token');
  }
}

/** Tokens on a node without a cluster. */
export const noTokens: VolumeTokens = {
  get: async () => Promise.reject(new NoTokensError()),
  refreshInMs: () => undefined,
};

/** The certificates of authorities that the API server keeps. */
export interface TrustSource {
  /** As PEM. The source wakes the pod when they may have changed, until the pod is removed. */
  anchors(
    projection: ClusterTrustBundleProjection,
    pod: Pick<VolumePlace, 'uid'>,
    signal: AbortSignal,
  ): Promise<string>;
}

/** Certificates of authorities on a node without a cluster. */
export const noTrust: TrustSource = {
  anchors: async () =>
    Promise.reject(
      new TubeletError('unsupported', 'ClusterTrustBundle projection is not supported in static kubelet mode'),
    ),
};
