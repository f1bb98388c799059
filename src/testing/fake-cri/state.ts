import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { TubeletError } from '../../base/errors.ts';
import type { ContainerConfig, ContainerUser, LinuxContainerResources, PodSandboxConfig } from '../../gen/cri/api.ts';
import type { FakeProcess } from './process.ts';

/** ready ──stop, death of the pause process──> notReady ──remove──> gone */
export interface FakeSandbox {
  readonly id: string;
  readonly name: string;
  readonly config: PodSandboxConfig;
  readonly runtimeHandler: string;
  readonly createdAt: bigint;
  state: 'ready' | 'notReady';
  /** Empty on the host network, and once stopped. */
  ip: string;
  resources: LinuxContainerResources | undefined;
}

/** created ──start──> running ──end──> exited; a failed start goes from created to exited. */
export interface FakeContainer {
  readonly id: string;
  readonly name: string;
  readonly sandboxId: string;
  readonly config: ContainerConfig;
  readonly imageId: string;
  /** What the image is called: a tag of it, whichever way it was asked for; its id when it has none. */
  readonly imageName: string;
  readonly logPath: string;
  /** As whom it runs, where the runtime tells. */
  readonly user: ContainerUser | undefined;
  readonly createdAt: bigint;
  readonly checkpoints: string[];
  state: 'created' | 'running' | 'exited';
  startedAt: bigint;
  finishedAt: bigint;
  exitCode: number;
  reason: string;
  message: string;
  resources: LinuxContainerResources | undefined;
  process: FakeProcess | undefined;
}

/** What the fake runtime holds: the part that outlives a crash of it. */
export class FakeState {
  readonly sandboxes = new Map<string, FakeSandbox>();
  readonly containers = new Map<string, FakeContainer>();
  readonly #clock: Pick<Clock, 'now'>;
  readonly #names = new Map<string, string>();
  #lastStamp = 0n;
  #made = 0;
  #addresses = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Wall time in nanoseconds, also when the wall was set back. No two of one time are the same: readers sort by it. */
  stamp(): bigint {
    const now = BigInt(Math.floor(this.#clock.now())) * 1_000_000n;
    const isSameMilli = this.#lastStamp - (this.#lastStamp % 1_000_000n) === now;
    this.#lastStamp = isSameMilli ? this.#lastStamp + 1n : now;
    return this.#lastStamp;
  }

  newId(): string {
    return createHash('sha256')
      .update(`fake-${++this.#made}`)
      .digest('hex');
  }

  newAddress(): string {
    const n = ++this.#addresses;
    return `10.88.${(n >> 8) & 255}.${n & 255}`;
  }

  /** Names are taken from the beginning of a creation on, so that two at once cannot both succeed. */
  reserve(what: 'sandbox' | 'container', name: string, id: string): void {
    const holder = this.#names.get(name);
    if (holder !== undefined) {
      const words = `failed to reserve ${what} name "${name}": name "${name}" is reserved for "${holder}"`;
      throw new TubeletError('alreadyExists', words);
    }
    this.#names.set(name, id);
  }

  release(name: string): void {
    this.#names.delete(name);
  }

  sandbox(id: string): FakeSandbox {
    const found = this.sandboxes.get(id);
    if (found === undefined) {
      throw new TubeletError('notFound', `an error occurred when try to find sandbox "${id}": not found`);
    }
    return found;
  }

  container(id: string): FakeContainer {
    const found = this.containers.get(id);
    if (found === undefined) {
      throw new TubeletError('notFound', `an error occurred when try to find container "${id}": not found`);
    }
    return found;
  }

  containersOf(sandboxId: string): FakeContainer[] {
    return [...this.containers.values()].filter((container) => container.sandboxId === sandboxId);
  }

  /** The newest container of a name, in whichever pod. */
  newestNamed(name: string): FakeContainer | undefined {
    return [...this.containers.values()].findLast((container) => container.config.metadata?.name === name);
  }
}
