import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ErrorKind } from '../../base/errors.ts';
import { TubeletError } from '../../base/errors.ts';
import {
  ContainerConfig,
  ContainerState,
  NamespaceMode,
  PodSandboxConfig,
  type ContainerStatus,
  type PodSandboxStatus,
} from '../../gen/cri/api.ts';
import { programs, type ConformanceSubject, type Habit, type ProgramName } from './subject.ts';

/** An id in the form of real ones that nothing has. */
export const nobody = '0'.repeat(64);
const patienceMs = 30_000;
const pollMs = 20;

interface PodOptions {
  readonly attempt?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly hostNetwork?: boolean;
  readonly runtimeHandler?: string;
}

interface ContainerOptions {
  readonly attempt?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly image?: string;
}

/** A sandbox that was run, with its configuration. */
interface Pod {
  readonly id: string;
  readonly config: PodSandboxConfig;
}

let pods = 0;

/** The suite's hands: short ways to make pods and containers, and to take away what was made. */
export class World {
  readonly subject: ConformanceSubject;
  readonly #made: string[] = [];

  constructor(subject: ConformanceSubject) {
    this.subject = subject;
  }

  podConfig(options: PodOptions = {}): PodSandboxConfig {
    const name = `conformance-${process.pid}-${++pods}`;
    return PodSandboxConfig.fromPartial({
      metadata: { name, namespace: 'conformance', uid: `uid-of-${name}`, attempt: options.attempt ?? 0 },
      hostname: options.hostNetwork === true ? '' : name,
      logDirectory: join(this.subject.folder, name),
      labels: { suite: name, 'io.kubernetes.pod.uid': `uid-of-${name}`, ...options.labels },
      annotations: { ...options.annotations },
      linux: {
        cgroupParent: this.subject.cgroupParent ?? '',
        securityContext: {
          namespaceOptions: {
            network: options.hostNetwork === true ? NamespaceMode.NODE : NamespaceMode.POD,
            pid: NamespaceMode.CONTAINER,
          },
        },
      },
    });
  }

  async runPod(options: PodOptions = {}, config: PodSandboxConfig = this.podConfig(options)): Promise<Pod> {
    const { podSandboxId } = await this.subject.cri.runPodSandbox({
      config,
      runtimeHandler: options.runtimeHandler ?? '',
    });
    this.#made.push(podSandboxId);
    return { id: podSandboxId, config };
  }

  async create(pod: Pod, program: ProgramName, options: ContainerOptions = {}): Promise<string> {
    const { attempt = 0, image = this.subject.image } = options;
    await mkdir(join(pod.config.logDirectory, program), { recursive: true });
    const config = ContainerConfig.fromPartial({
      metadata: { name: program, attempt },
      image: { image, userSpecifiedImage: image },
      command: [...programs[program]],
      // By the uid runtimes find the containers of a pod.
      labels: { program, 'io.kubernetes.pod.uid': pod.config.metadata?.uid ?? '', ...options.labels },
      annotations: { ...options.annotations },
      logPath: `${program}/${attempt}.log`,
      linux: { securityContext: { namespaceOptions: { pid: NamespaceMode.CONTAINER } } },
    });
    const request = { podSandboxId: pod.id, config, sandboxConfig: pod.config };
    return (await this.subject.cri.createContainer(request)).containerId;
  }

  async start(pod: Pod, program: ProgramName, options: ContainerOptions = {}): Promise<string> {
    const containerId = await this.create(pod, program, options);
    await this.subject.cri.startContainer({ containerId });
    return containerId;
  }

  /** Starts a program that says `ready`, and waits for the word: only then its signal handlers are there. */
  async startReady(pod: Pod, program: 'polite' | 'stubborn'): Promise<string> {
    const id = await this.start(pod, program);
    await this.until(`${program} is ready`, async () => (await this.log(pod, program)).includes('ready'));
    return id;
  }

  async container(containerId: string): Promise<ContainerStatus> {
    const { status } = await this.subject.cri.containerStatus({ containerId, verbose: false });
    assert.ok(status !== undefined);
    return status;
  }

  async sandbox(podSandboxId: string): Promise<PodSandboxStatus> {
    const { status } = await this.subject.cri.podSandboxStatus({ podSandboxId, verbose: false });
    assert.ok(status !== undefined);
    return status;
  }

  async exited(containerId: string): Promise<ContainerStatus> {
    await this.until('the container has exited', async () => {
      return (await this.container(containerId)).state === ContainerState.CONTAINER_EXITED;
    });
    return this.container(containerId);
  }

  /** The log of a container as it is now; empty while there is none. */
  async log(pod: Pod, program: ProgramName, attempt = 0): Promise<string> {
    try {
      return await readFile(join(pod.config.logDirectory, program, `${attempt}.log`), 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
      throw error;
    }
  }

  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const { clock } = this.subject;
    const deadline = clock.monotonic() + patienceMs;
    while (!(await holds())) {
      if (clock.monotonic() > deadline) assert.fail(`waited ${patienceMs} ms in vain until ${what}`);
      await clock.sleep(pollMs);
    }
  }

  has(habit: Habit): boolean {
    return this.subject.habits?.includes(habit) === true;
  }

  /** Removes every sandbox of the test, and with them their containers. */
  async cleanUp(): Promise<void> {
    for (const podSandboxId of this.#made.splice(0)) {
      await this.subject.cri.stopPodSandbox({ podSandboxId });
      await this.subject.cri.removePodSandbox({ podSandboxId });
    }
  }
}

/** For assert.rejects: a TubeletError of one of these kinds. */
export function ofKind(...kinds: readonly ErrorKind[]): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof TubeletError, `not a TubeletError: ${String(error)}`);
    assert.ok(kinds.includes(error.kind), `${error.kind}, wanted ${kinds.join(' or ')}: ${error.message}`);
    return true;
  };
}

/** Registers a test that gets a world and leaves nothing behind. */
export type Examine = (name: string, run: (world: World) => Promise<void>) => void;
