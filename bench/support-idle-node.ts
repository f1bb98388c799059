import { fork, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../src/base/system-clock.ts';
import { volumeHost } from '../src/host/index.ts';
import { createFakeCri, fileLogs, serveFakeCri, type FakeCri } from '../src/testing/fake-cri/index.ts';
import { testImage } from '../src/testing/pods.ts';
import type { Question, Sight } from './support-idle-agent.ts';
import { until } from './support.ts';

/** Those of bin/tubelet, and the collector, so that garbage does not count. */
const nodeFlags = [
  '--v8-pool-size=1',
  '--max-semi-space-size=4',
  '--max-old-space-size=1024',
  '--disable-proto=delete',
  '--expose-gc',
];
/** Pods that come and go before anything is measured, so that the code is in memory, and next to nothing of theirs. */
const warmUpPods = 5;
const clock = systemClock();

/** A runtime in memory behind a socket, and an agent in a process of its own. */
export class IdleNode {
  readonly #folder: string;
  readonly #agent: ChildProcess;
  readonly #cri: FakeCri;
  readonly #stopRuntime: () => Promise<void>;
  readonly #ended: Promise<unknown>;

  constructor(folder: string, cri: FakeCri, agent: ChildProcess, stopRuntime: () => Promise<void>) {
    this.#folder = folder;
    this.#cri = cri;
    this.#agent = agent;
    this.#stopRuntime = stopRuntime;
    this.#ended = new Promise((resolve) => void agent.once('exit', resolve));
  }

  static async start(): Promise<IdleNode> {
    const folder = mkdtempSync('/var/tmp/tubelet-bench-');
    for (const name of ['manifests', 'staging']) mkdirSync(join(folder, name));
    const cri = createFakeCri({ clock, logs: fileLogs });
    cri.images.add(testImage);
    const served = await serveFakeCri(cri, join(folder, 'runtime.sock'));
    writeFileSync(join(folder, 'kubelet.json'), configuration(folder, served.endpoint));
    const agent = fork(process.argv[1] ?? '', [folder], { execArgv: nodeFlags });
    const node = new IdleNode(folder, cri, agent, () => served.stop());
    await node.glance();
    return node;
  }

  /** What the agent sees after a collection of garbage. */
  look(): Promise<Sight> {
    return this.#ask('collect and look');
  }

  glance(): Promise<Sight> {
    return this.#ask('look');
  }

  async #ask(question: Question): Promise<Sight> {
    const answer = new Promise<Sight>((resolve) => {
      this.#agent.once('message', (sight) => resolve(sight as Sight));
    });
    this.#agent.send(question);
    const end = this.#ended.then((code) => Promise.reject(new Error(`the agent ended with ${String(code)}`)));
    return Promise.race([answer, end]);
  }

  async warmUp(): Promise<void> {
    await this.populate({ pods: warmUpPods, probes: 1 });
    const manifests = join(this.#folder, 'manifests');
    for (const name of readdirSync(manifests)) rmSync(join(manifests, name));
    await until(async () => this.#cri.state.sandboxes.size === 0);
  }

  async populate({ pods, probes }: { readonly pods: number; readonly probes: number }): Promise<void> {
    for (let index = 0; index < pods; index++) {
      const name = `pod-${index}`;
      const staged = join(this.#folder, 'staging', name);
      writeFileSync(staged, manifest(name, probes));
      renameSync(staged, join(this.#folder, 'manifests', `${name}.json`));
    }
    await until(async () => (await this.glance()).running === pods, 300_000);
  }

  async destroy(): Promise<void> {
    if (this.#agent.connected) this.#agent.disconnect();
    await this.#ended;
    await this.#stopRuntime();
    await volumeHost.mounts.release(this.#folder);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function configuration(folder: string, endpoint: string): string {
  return JSON.stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    staticPodPath: join(folder, 'manifests'),
    containerRuntimeEndpoint: endpoint,
    podLogsDir: join(folder, 'pod-logs'),
    enableServer: false,
    healthzPort: 0,
    authentication: { webhook: { enabled: false }, anonymous: { enabled: true } },
    authorization: { mode: 'AlwaysAllow' },
    failSwapOn: false,
    makeIPTablesUtilChains: false,
    maxPods: 1_000,
    // Containers that are only in memory have no cgroups.
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
  });
}

function manifest(name: string, probes: number): string {
  const readinessProbe = { exec: { command: ['true'] }, periodSeconds: 10 };
  const container = { name: 'main', image: testImage, imagePullPolicy: 'IfNotPresent' };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [{ ...container, ...(probes > 0 && { readinessProbe }) }],
    },
  });
}
