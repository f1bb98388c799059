import type { PodUid } from '../base/ids.ts';
import type { ConfigMap, PodSpec, Secret } from '../gen/kubernetes/types.ts';
import type { DataObjectReference } from '../model/standalone-object.ts';

/** What of a pod tells which objects it uses. */
export interface ReferringPod {
  readonly uid: PodUid;
  readonly namespace: string;
  readonly spec: PodSpec;
}

/** One object of the API server, kept at hand. */
export interface KeptObject {
  /** Whether the server has been heard: then an object that is not here does not exist. */
  known(): boolean;
  current(): (ConfigMap & Secret) | undefined;
  lastError(): string | undefined;
  /** Asks again where the strategy wants it before use; never rejects. */
  refresh(signal: AbortSignal): Promise<void>;
  release(): void;
}

/** `onContent` is told how much there is in an object whenever it came, before anything else is. It may release it. */
export type ObjectKeeper = (
  reference: DataObjectReference,
  onChange: () => void,
  onContent: (bytes: number) => void,
) => KeptObject;
