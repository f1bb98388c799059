import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { noCalls } from '../../src/base/calls.ts';
import { silentLog } from '../../src/base/log.ts';
import { connectCri, type Cri } from '../../src/cri/index.ts';
import { ContainerConfig, PodSandboxConfig } from '../../src/gen/cri/api.ts';
import type { DesiredPod } from '../../src/model/desired-pod.ts';
import { containerLabels, sandboxLabels } from '../../src/model/labels.ts';
import type { ObservedPod } from '../../src/model/observed-pod.ts';
import { observe } from '../../src/testing/observe.ts';
import { aContainer, aPod } from '../../src/testing/pods.ts';
import { startPrivateRuntime, type PrivateRuntime } from '../../src/testing/private-runtime.ts';
import { realFolder, type RealFolder } from './real-folders.ts';
import { clock } from './real-wait.ts';
import { StreamingFront } from './streaming-front.ts';

/** Port at which the pod sends back whatever it is sent. */
export const echoPort = 7_000;

const idle = 'trap "exit 0" TERM; while true; do sleep 1000 & wait $!; done';
const containers = {
  main: { command: ['sh', '-c', idle], stdin: false, tty: false },
  echo: { command: ['nc', '-ll', '-p', String(echoPort), '-e', 'cat'], stdin: false, tty: false },
  reader: {
    command: ['sh', '-c', 'while read -r line; do echo "got $line"; done; exec sleep 1000'],
    stdin: true,
    tty: false,
  },
  terminal: { command: ['sh'], stdin: true, tty: true },
} as const;

/** One pod on a private containerd, and the agent's sessions with it. */
export class StreamingWorld {
  readonly cri: Cri;
  readonly front: StreamingFront;
  readonly pod: DesiredPod;
  readonly #runtime: PrivateRuntime;
  readonly #folder: RealFolder;
  #observed: ObservedPod | undefined;

  private constructor(folder: RealFolder, runtime: PrivateRuntime) {
    this.#folder = folder;
    this.#runtime = runtime;
    this.cri = connectCri({
      calls: noCalls,
      endpoint: runtime.endpoint,
      clock,
      log: silentLog,
      timeouts: { requestMs: 120_000 },
    });
    this.pod = aPod({
      spec: {
        containers: Object.entries(containers).map(([name, { stdin, tty }]) => aContainer(name, { stdin, tty })),
      },
    });
    this.front = new StreamingFront({
      log: silentLog,
      runtime: this.cri,
      pods: {
        pod: (namespace, name) => (namespace === this.pod.namespace && name === this.pod.name ? this.pod : undefined),
        observed: () => this.observed(),
        inspect: () => this.#inspect(),
      },
    });
  }

  static async start(names: readonly (keyof typeof containers)[]): Promise<StreamingWorld> {
    const folder = await realFolder('streaming');
    let world: StreamingWorld | undefined;
    try {
      const runtime = await startPrivateRuntime({ root: folder.root, log: silentLog, clock });
      world = new StreamingWorld(folder, runtime);
      await world.front.start();
      await world.#runPod(names);
      return world;
    } catch (error) {
      await (world?.destroy() ?? folder.remove());
      throw error;
    }
  }

  /** What was last seen of the pod. */
  async observed(): Promise<ObservedPod> {
    return this.#observed ?? this.#inspect();
  }

  async destroy(): Promise<void> {
    await this.front.stop();
    this.cri.close();
    await this.#folder.remove();
  }

  async #inspect(): Promise<ObservedPod> {
    this.#observed = await observe(this.cri, this.pod);
    return this.#observed;
  }

  async #runPod(names: readonly (keyof typeof containers)[]): Promise<void> {
    const { name, namespace, uid } = this.pod;
    const logDirectory = join(this.#folder.path, 'logs');
    await mkdir(logDirectory);
    const sandboxConfig = PodSandboxConfig.fromPartial({
      metadata: { name, namespace, uid, attempt: 0 },
      hostname: name,
      logDirectory,
      labels: sandboxLabels(this.pod),
      linux: { cgroupParent: this.#runtime.cgroupRoot },
    });
    const { podSandboxId } = await this.cri.runPodSandbox({ config: sandboxConfig, runtimeHandler: '' });
    for (const container of names) {
      const { command, stdin, tty } = containers[container];
      const config = ContainerConfig.fromPartial({
        metadata: { name: container, attempt: 0 },
        image: { image: this.#runtime.images.busybox },
        command: [...command],
        labels: containerLabels(this.pod, container),
        logPath: `${container}.log`,
        stdin,
        tty,
        linux: { securityContext: {} },
      });
      const { containerId } = await this.cri.createContainer({ podSandboxId, config, sandboxConfig });
      await this.cri.startContainer({ containerId });
    }
  }
}
