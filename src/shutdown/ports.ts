import type { PodUid } from '../base/ids.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import type { ObjectEvent } from '../model/object-event.ts';
import type { NamespacedName } from '../model/pod-reference.ts';
import type { Termination } from '../model/sync-outcome.ts';

export interface ShutdownPods {
  /** Pods whose containers may run. */
  activePods(): readonly DesiredPod[];
  /** All sources have been read: no pod that runs is unknown. */
  complete(): boolean;
  /** Ends a pod that its source still names. */
  terminate(uid: PodUid, how: Termination): void;
  /** Nothing of the pod runs, and it holds no volume any more; also of a pod that is unknown. */
  hasEnded(uid: PodUid): boolean;
}

export interface NodeEvents {
  record(event: ObjectEvent): void;
}

/** What the API server has already. */
export interface ApiServerFlush {
  /** Pods whose newest status it does not have. */
  unwritten(): readonly NamespacedName[];
  /** It has that the node is not ready. */
  nodeNotReady(): boolean;
  /** Resolves when it has all events. */
  events(signal: AbortSignal): Promise<void>;
}

/** Whether the machine is going down, as node and admission read it. */
export interface ShutdownFlag {
  set(isSet: boolean): void;
}

/** Files below the agent's folder, and the drop-in of logind. Errors are TubeletErrors, of kind `notFound` for a missing path. */
export interface ShutdownFiles {
  /** At most so many bytes; does not follow links and does not wait for pipes. */
  read(path: string, maxBytes: number): Promise<string>;
  /** A reader sees the old text or the new, never a part. */
  replace(path: string, text: string, mode: number): Promise<void>;
  /** A missing file is no error. */
  remove(path: string): Promise<void>;
  makeFolder(path: string, mode: number): Promise<void>;
  /** Reports changes in a folder. Throws when it cannot be watched. The returned function ends the watch. */
  watch(path: string, onChange: () => void, onError: (error: unknown) => void): () => void;
}
