import {
  ContainerCreate,
  ContainerDelete,
  SandboxExit,
  SandboxStart,
  TaskDelete,
  TaskExit,
  TaskOOM,
  TaskStart,
  type Envelope,
  type Timestamp,
} from '../gen/containerd/events.ts';

type ContainerdEventKind = 'created' | 'started' | 'exited' | 'oom' | 'removed';

/** An event of a container or of a sandbox, which containerd runs as a container too. */
export interface ContainerdEvent {
  readonly kind: ContainerdEventKind;
  readonly containerId: string;
  /** Wall time in milliseconds. */
  readonly at: number;
}

type Content = Omit<ContainerdEvent, 'at'> & { readonly at?: Timestamp | undefined };

/** Decoders of the topics; undefined for a process that was only executed in its container. */
const readers = new Map<string, (bytes: Uint8Array) => Content | undefined>([
  ['/containers/create', (bytes) => ({ kind: 'created', containerId: ContainerCreate.decode(bytes).id })],
  ['/containers/delete', (bytes) => ({ kind: 'removed', containerId: ContainerDelete.decode(bytes).id })],
  ['/tasks/start', (bytes) => ({ kind: 'started', containerId: TaskStart.decode(bytes).containerId })],
  ['/tasks/exit', (bytes) => exited(TaskExit.decode(bytes))],
  // Sent when the process is cleaned up: a reader that came too early for the exit gets a second event.
  ['/tasks/delete', (bytes) => exited(TaskDelete.decode(bytes))],
  ['/tasks/oom', (bytes) => ({ kind: 'oom', containerId: TaskOOM.decode(bytes).containerId })],
  ['/sandboxes/start', (bytes) => ({ kind: 'started', containerId: SandboxStart.decode(bytes).sandboxId })],
  ['/sandboxes/exit', (bytes) => sandboxExited(SandboxExit.decode(bytes))],
]);

/** The topics with a decoder. */
export const topics: readonly string[] = [...readers.keys()];

/** The event in an envelope; undefined for another topic. Throws when its bytes are not such a message. */
export function toEvent(envelope: Envelope, now: number): ContainerdEvent | undefined {
  const content = readers.get(envelope.topic)?.(envelope.event?.value ?? new Uint8Array());
  if (content === undefined || content.containerId === '') return undefined;
  const { kind, containerId } = content;
  return { kind, containerId, at: toMillis(content.at) ?? toMillis(envelope.timestamp) ?? now };
}

/** An exec in a container ends with the same event under an id of its own, and its container keeps running. */
function exited({ containerId, id, exitedAt }: Pick<TaskExit, 'containerId' | 'id' | 'exitedAt'>): Content | undefined {
  if (id !== '' && id !== containerId) return undefined;
  return { kind: 'exited', containerId, at: exitedAt };
}

function sandboxExited({ sandboxId, exitedAt }: SandboxExit): Content {
  return { kind: 'exited', containerId: sandboxId, at: exitedAt };
}

function toMillis(time: Timestamp | undefined): number | undefined {
  if (time === undefined) return undefined;
  return Number(time.seconds) * 1_000 + Math.floor(time.nanos / 1_000_000);
}
