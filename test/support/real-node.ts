import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { silentLog } from '../../src/base/log.ts';
import { connectCri, type Cri } from '../../src/cri/index.ts';
import {
  ContainerState,
  ListContainersRequest,
  ListPodSandboxRequest,
  PodSandboxState,
} from '../../src/gen/cri/api.ts';
import type { Pod } from '../../src/gen/kubernetes/types.ts';
import { instanceNames, startPrivateRuntime, type InstanceNames, type PrivateRuntime } from '../../src/up/index.ts';
import { agentFlags, kubeletConfiguration, type AgentPlan } from '../../src/up/kubelet-config.ts';
import { realFolder } from './real-folders.ts';
import { Program, tubelet } from './real-program.ts';
import { clock, until } from './real-wait.ts';

export const nodeName = 'node-1';

/** A container of the runtime as tests look at it. */
export interface SeenContainer {
  readonly id: string;
  readonly name: string;
  readonly attempt: number;
  readonly running: boolean;
}

/** A private runtime and everything that an agent needs to run pods in it; agents come and go. */
export class RealNode {
  readonly names: InstanceNames;
  readonly cri: Cri;
  readonly plan: AgentPlan;
  readonly path: string;
  readonly #ends: readonly (() => Promise<void>)[];
  readonly #agents: Program[] = [];
  #runtime: PrivateRuntime;

  private constructor(path: string, plan: AgentPlan, runtime: PrivateRuntime, ends: readonly (() => Promise<void>)[]) {
    this.path = path;
    this.names = plan.names;
    this.plan = plan;
    this.#runtime = runtime;
    this.#ends = ends;
    this.cri = connectReal(runtime.endpoint);
  }

  static async start(name: string): Promise<RealNode> {
    const folder = await realFolder(name);
    try {
      const runtime = await startPrivateRuntime({ root: folder.root, log: silentLog, clock });
      const names = instanceNames(runtime.root);
      const [healthzPort = 0, readOnlyPort = 0] = await freePorts(2);
      const { manifests } = names;
      const { endpoint } = runtime;
      const plan = { names, nodeName, manifests, endpoint, healthzPort, readOnlyPort, ownRuntime: true };
      mkdirSync(manifests);
      mkdirSync(names.kubeletRoot);
      // Its place is what a removal recognizes agents by, also after this process was killed.
      writeFileSync(names.kubeletConfig, kubeletConfiguration(plan));
      return new RealNode(folder.path, plan, runtime, [() => folder.remove()]);
    } catch (error) {
      await folder.remove();
      throw error;
    }
  }

  get image(): string {
    return this.#runtime.images.busybox;
  }

  /** Starts an agent as a kubelet. Further flags win over the configuration. */
  agent(flags: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Program {
    const agent = new Program([tubelet, ...agentFlags(this.plan), ...flags], env);
    this.#agents.push(agent);
    return agent;
  }

  async healthyAgent(flags: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<Program> {
    const agent = this.agent(flags, env);
    await this.healthy(agent);
    return agent;
  }

  async healthy(agent: Program): Promise<void> {
    await until('the agent is healthy', async () => !agent.running || (await this.healthz()).status === 200, {
      state: () => agent.text.slice(-4_000),
    });
    if (!agent.running) throw new Error(`the agent ended: ${agent.text.slice(-4_000)}`);
  }

  healthz(query = ''): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.plan.healthzPort}/healthz${query}`, { signal: AbortSignal.timeout(5_000) });
  }

  /** The pod of this name in /pods; the node's name is added to a static pod's. */
  async pod(name: string): Promise<Pod | undefined> {
    const answer = await fetch(`http://127.0.0.1:${this.plan.readOnlyPort}/pods`, {
      signal: AbortSignal.timeout(5_000),
    });
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

  /** Removes a manifest, waits for an agent to remove the pod, and checks that the runtime has nothing of it. */
  async remove(name: string): Promise<void> {
    rmSync(join(this.names.manifests, `${name}.json`));
    await this.gone(name);
  }

  async gone(name: string): Promise<void> {
    const left = async (): Promise<unknown[]> => [...(await this.sandboxes(name)), ...(await this.containers(name))];
    await until(`nothing is left of pod ${name}`, async () => (await left()).length === 0, { state: left });
  }

  async containers(pod: string): Promise<readonly SeenContainer[]> {
    const { containers } = await this.cri.listContainers(ListContainersRequest.fromPartial({}));
    return containers
      .filter(({ labels }) => labels['io.kubernetes.pod.name'] === `${pod}-${nodeName}`)
      .map(({ id, metadata, state }) => ({
        id,
        name: metadata?.name ?? '',
        attempt: metadata?.attempt ?? 0,
        running: state === ContainerState.CONTAINER_RUNNING,
      }));
  }

  /** Running containers by their names, each with its id. */
  async running(pod: string): Promise<ReadonlyMap<string, string>> {
    const containers = await this.containers(pod);
    return new Map(containers.filter(({ running }) => running).map(({ id, name }) => [name, id]));
  }

  async sandboxes(pod: string): Promise<readonly { readonly id: string; readonly ready: boolean }[]> {
    const { items } = await this.cri.listPodSandbox(ListPodSandboxRequest.fromPartial({}));
    return items
      .filter(({ metadata }) => metadata?.name === `${pod}-${nodeName}`)
      .map(({ id, state }) => ({ id, ready: state === PodSandboxState.SANDBOX_READY }));
  }

  get containerdPid(): number {
    return this.#runtime.containerdPid;
  }

  /** Ends containerd; pods run on. */
  async stopRuntime(): Promise<void> {
    await this.#runtime.stop();
  }

  /** Starts containerd again over what the one before left. */
  async startRuntime(): Promise<void> {
    this.#runtime = await startPrivateRuntime({ root: this.names.root, log: silentLog, clock });
  }

  /** Asks every agent that still runs to end, and waits for it. */
  async stopAgents(): Promise<void> {
    for (const agent of this.#agents.splice(0)) {
      agent.kill('SIGTERM');
      await agent.ended;
    }
  }

  /** Ends every agent that still runs. */
  async endAgents(): Promise<void> {
    for (const agent of this.#agents.splice(0)) await agent.end();
  }

  async destroy(): Promise<void> {
    await this.endAgents();
    this.cri.close();
    for (const end of this.#ends) await end();
  }
}

export function readyCondition(pod: Pod | undefined): string | undefined {
  return pod?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
}

/** A client of a runtime that may be slow under load. */
export function connectReal(endpoint: string): Cri {
  return connectCri({ endpoint, clock, log: silentLog, timeouts: { requestMs: 120_000 } });
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
