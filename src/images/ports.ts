import type { CallOptions } from '../base/call.ts';
import type { PodUid } from '../base/ids.ts';
import type { Masked } from '../base/masked.ts';
import type { ImageStatusRequest, ImageStatusResponse, PullImageRequest, PullImageResponse } from '../gen/cri/api.ts';
import type { Secret } from '../gen/kubernetes/types.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import type { PodEvent } from '../model/object-event.ts';
import type { PluginCall } from '../model/program-calls.ts';

/** What pulling needs of the runtime's image service. */
export interface ImageService {
  imageStatus(request: ImageStatusRequest, options?: CallOptions): Promise<ImageStatusResponse>;
  pullImage(request: PullImageRequest, options?: CallOptions): Promise<PullImageResponse>;
}

export interface ImageEvents {
  record(pod: DesiredPod, event: PodEvent): void;
}

/** Records when a pod begins to wait for an image, and when it has it. */
export interface PullWaits {
  began(uid: PodUid): void;
  ended(uid: PodUid): void;
}

export interface SecretLookup {
  /** As the API writes it, values in base64. */
  secret(namespace: string, name: string): Pick<Secret, 'type' | 'data' | 'metadata'> | undefined;
}

/** Texts of small files; what is not there is a `notFound` error. */
export interface TextFiles {
  readText(path: string): Promise<string>;
}

/** The files behind `--image-credential-provider-config` and its plugins. */
export interface ProviderFiles extends TextFiles {
  isFolder(path: string): Promise<boolean>;
  /** Names of the plain files in a folder. */
  listFiles(path: string): Promise<readonly string[]>;
  isExecutable(path: string): Promise<boolean>;
}

/** The file system as far as pull records need it. */
export interface RecordFiles extends TextFiles {
  makeFolder(path: string, mode: number): Promise<void>;
  /** Readers see the old content or the new, also after a crash. */
  writeAtomic(path: string, content: string, mode: number): Promise<void>;
  /** Names in a folder; none when the folder is not there. */
  list(path: string): Promise<readonly string[]>;
  /** What is not there is fine. */
  removeTree(path: string): Promise<void>;
}

/** Runs a credential provider once; returns its output. */
export interface PluginRunner {
  run(call: PluginCall): Promise<string>;
}

interface ServiceAccount {
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Accounts of pods, for plugins that act on behalf of one. Only an API server can answer. */
export interface ServiceAccounts {
  /** Undefined when there is no such account. */
  get(namespace: string, name: string, signal: AbortSignal): Promise<ServiceAccount | undefined>;
  /** A token of the account, bound to the pod. */
  token(
    request: { readonly pod: DesiredPod; readonly account: string; readonly audience: string },
    signal: AbortSignal,
  ): Promise<Masked<string>>;
}
