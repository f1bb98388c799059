import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { silentLog } from '../../src/base/log.ts';
import type { Pod } from '../../src/gen/kubernetes/types.ts';
import { startPrivateRuntime, type PrivateRuntime } from '../../src/testing/private-runtime.ts';
import { instanceNames, type InstanceNames } from '../../src/up/index.ts';
import { agentFlags, kubeletConfiguration, type AgentPlan } from '../../src/up/kubelet-config.ts';
import { realFolder, type RealFolder } from './real-folders.ts';
import { Program, tubelet } from './real-program.ts';
import { nodeName, RuntimeView } from './real-runtime.ts';
import { clock, until } from './real-wait.ts';
import { runtimeUnderTest } from './runtime-under-test.ts';

type Environment = Readonly<Record<string, string>>;

/** A private runtime and everything that an agent needs to run pods in it; agents come and go. */
export class RealNode {
  readonly names: InstanceNames;
  readonly runtime: RuntimeView;
  readonly #folder: RealFolder;
  readonly #plan: AgentPlan;
  readonly #agents: Program[] = [];
  #software: PrivateRuntime;

  constructor(folder: RealFolder, plan: AgentPlan, runtime: PrivateRuntime) {
    this.names = plan.names;
    this.runtime = new RuntimeView(runtime.endpoint);
    this.#folder = folder;
    this.#plan = plan;
    this.#software = runtime;
  }

  static async start(name: string): Promise<RealNode> {
    const folder = await realFolder(name);
    try {
      const { software, cgroupDriver } = runtimeUnderTest();
      const runtime = await startPrivateRuntime({ root: folder.root, log: silentLog, clock, software, cgroupDriver });
      const names = instanceNames(runtime.root);
      const [healthzPort = 0, readOnlyPort = 0] = await freePorts(2);
      const { manifests } = names;
      const { endpoint } = runtime;
      const plan = { names, nodeName, manifests, endpoint, healthzPort, readOnlyPort, cgroupDriver };
      mkdirSync(manifests);
      mkdirSync(names.kubeletRoot);
      // Its place is what a removal recognizes agents by, also after this process was killed.
      writeFileSync(names.kubeletConfig, kubeletConfiguration(plan));
      return new RealNode(folder, plan, runtime);
    } catch (error) {
      await folder.remove();
      throw error;
    }
  }

  /** A folder for what a test needs besides. */
  get path(): string {
    return this.#folder.path;
  }

  /** Of the command line of its agents. */
  get flags(): readonly string[] {
    return agentFlags(this.#plan);
  }

  get image(): string {
    return this.#software.images.busybox;
  }

  /** Starts an agent as a kubelet, tubelet unless another is given. Further flags win over the configuration. */
  agent(flags: readonly string[] = [], env: Environment = {}, kubelet = tubelet): Program {
    const agent = new Program([kubelet, ...this.flags, ...flags], env);
    this.#agents.push(agent);
    return agent;
  }

  /** Starts an agent and waits until it answers for its health, which it does before it has seen the runtime. */
  async healthyAgent(flags: readonly string[] = []): Promise<Program> {
    const agent = this.agent(flags);
    await until('the agent is healthy', async () => !agent.running || (await this.healthz()).status === 200, {
      state: () => agent.text.slice(-4_000),
    });
    if (!agent.running) throw new Error(`the agent ended: ${agent.text.slice(-4_000)}`);
    return agent;
  }

  /** Starts an agent and waits until it looks after the manifests. */
  async workingAgent(flags: readonly string[] = []): Promise<Program> {
    const agent = this.agent(flags);
    await agent.said(startedWork);
    return agent;
  }

  healthz(query = ''): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.#plan.healthzPort}/healthz${query}`, { signal: AbortSignal.timeout(5_000) });
  }

  /** A page of the read-only port. */
  read(path: string): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.#plan.readOnlyPort}${path}`, { signal: AbortSignal.timeout(5_000) });
  }

  /** The pod of this name in /pods. */
  async pod(name: string): Promise<Pod | undefined> {
    const answer = await this.read('/pods');
    const { items } = (await answer.json()) as { readonly items: readonly Pod[] };
    return items.find((pod) => pod.metadata?.name === `${name}-${nodeName}`);
  }

  readyPod(name: string): Promise<Pod> {
    return until(
      `pod ${name} is ready`,
      async () => {
        const pod = await this.pod(name);
        return readyCondition(pod) === 'True' && pod;
      },
      { state: () => this.pod(name) },
    );
  }

  /** Puts a manifest into the folder as one should: written elsewhere, then renamed. */
  put(name: string, pod: object): void {
    const hidden = join(this.names.manifests, `.${name}.new`);
    writeFileSync(hidden, JSON.stringify(pod));
    renameSync(hidden, join(this.names.manifests, `${name}.json`));
  }

  /** Deletes a manifest and writes it anew with nothing in between. */
  writeAnew(name: string): void {
    const path = join(this.names.manifests, `${name}.json`);
    const text = readFileSync(path);
    rmSync(path);
    writeFileSync(path, text);
  }

  /** Puts a copy in the place of a manifest, by a rename. */
  replaceFile(name: string): void {
    const path = join(this.names.manifests, `${name}.json`);
    this.put(name, JSON.parse(readFileSync(path, 'utf8')) as object);
  }

  /** Removes a manifest, and waits until the agent has left nothing of the pod in the runtime. */
  async remove(name: string): Promise<void> {
    rmSync(join(this.names.manifests, `${name}.json`));
    await this.runtime.gone(name);
  }

  get runtimePid(): number {
    return this.#software.pid;
  }

  /** Ends the runtime; pods run on. */
  async stopRuntime(): Promise<void> {
    await this.#software.stop();
  }

  /** Starts the runtime again over what the one before left. */
  async startRuntime(): Promise<void> {
    const { software, cgroupDriver } = runtimeUnderTest();
    const { root } = this.names;
    this.#software = await startPrivateRuntime({ root, log: silentLog, clock, software, cgroupDriver });
  }

  /** Ends every agent that still runs. */
  async endAgents(): Promise<void> {
    for (const agent of this.#agents.splice(0)) await agent.end();
  }

  async destroy(): Promise<void> {
    await this.endAgents();
    this.runtime.close();
    await this.#folder.remove();
  }
}

/** What an agent says when the last of its components, the one that reads manifests, has started. */
export const startedWork = /Component started.*file-source/;

export function readyCondition(pod: Pod | undefined): string | undefined {
  return pod?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
}

/** Ports that are free now. All are held until the last is known, so that they differ. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports: number[] = [];
  for (const server of servers) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ports.push((server.address() as AddressInfo).port);
  }
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
  return ports;
}
