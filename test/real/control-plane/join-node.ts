import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLog } from '../../../src/base/log.ts';
import type { Node } from '../../../src/gen/kubernetes/types.ts';
import { startPrivateRuntime, type PrivateRuntime } from '../../../src/testing/private-runtime.ts';
import { instanceNames, type InstanceNames } from '../../../src/up/index.ts';
import { subnetFromCidr } from '../../../src/up/subnet.ts';
import { realFolder, type RealFolder } from '../../support/real-folders.ts';
import { Program, tubelet } from '../../support/real-program.ts';
import { clock, until } from '../../support/real-wait.ts';
import { runtimeNamed, type RuntimeName } from '../../support/runtime-under-test.ts';
import type { ControlPlane } from './control-plane.ts';
import { absentFolders, removeFolders } from './fixed-folders.ts';
import { loopbackPorts } from './loopback-ports.ts';
import { nodeConfiguration } from './node-configuration.ts';
import { programPath } from './programs.ts';
import { openServiceAddress, type OpenAddress } from './service-address.ts';

/** Who looks after the node: ours, or the Go kubelet of the same release as the control plane. */
export type AgentProgram = 'tubelet' | 'kubelet';

interface NodeOptions {
  readonly name?: string;
  /** The agent has only the bootstrap kubeconfig and must ask for its identity. */
  readonly bootstrap?: boolean;
  /** Fields of the KubeletConfiguration, over those that a node here needs. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Debian's containerd unless another is given. */
  readonly runtime?: RuntimeName;
}

const readyTimeoutMs = 120_000;

/** This machine as a node of a control plane: a private runtime, and an agent over it that comes, goes and changes. */
export class JoinedNode {
  readonly name: string;
  readonly names: InstanceNames;
  readonly runtime: PrivateRuntime;
  /** That of the bridge, on which the pods live. */
  readonly address: string;
  readonly kubeconfig: string;
  readonly healthzPort: number;
  readonly #plane: ControlPlane;
  readonly #folder: RealFolder;
  readonly #flags: readonly string[];
  readonly #service: OpenAddress;
  readonly #absentBefore: readonly string[];
  #agent: Program | undefined;

  constructor(deps: {
    readonly name: string;
    readonly plane: ControlPlane;
    readonly folder: RealFolder;
    readonly runtime: PrivateRuntime;
    readonly service: OpenAddress;
    readonly address: string;
    readonly kubeconfig: string;
    readonly healthzPort: number;
    readonly flags: readonly string[];
    /** Fixed folders that were not there before. */
    readonly absentBefore: readonly string[];
  }) {
    this.name = deps.name;
    this.names = instanceNames(deps.runtime.root);
    this.runtime = deps.runtime;
    this.address = deps.address;
    this.kubeconfig = deps.kubeconfig;
    this.healthzPort = deps.healthzPort;
    this.#plane = deps.plane;
    this.#folder = deps.folder;
    this.#service = deps.service;
    this.#flags = deps.flags;
    this.#absentBefore = deps.absentBefore;
  }

  get agent(): Program {
    if (this.#agent === undefined) throw new Error('no agent was started');
    return this.#agent;
  }

  get image(): string {
    return this.runtime.images.busybox;
  }

  /** Starts an agent over what the one before left. Root directory, kubeconfig, configuration and runtime stay. */
  start(program: AgentProgram, flags: readonly string[] = []): Program {
    if (this.#agent?.running === true) throw new Error('an agent runs already');
    const path = program === 'tubelet' ? tubelet : programPath('kubelet');
    this.#agent = new Program([path, ...this.#flags, ...flags]);
    return this.#agent;
  }

  /** Ends the agent alone; pods run on. */
  async stopAgent(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.#agent?.running !== true) return;
    this.#agent.kill(signal);
    await this.#agent.ended;
  }

  /** The Node object once it is Ready; fails at once when the agent ends before. */
  async ready(): Promise<Node> {
    const look = async (): Promise<Node | false> => {
      const node = JSON.parse(await this.#plane.ask('get', 'node', this.name, '--output=json')) as Node;
      return isReady(node) && node;
    };
    const answer = await until(
      `node ${this.name} is Ready`,
      async () => (this.agent.running ? await look() : 'ended'),
      { timeoutMs: readyTimeoutMs, state: () => this.agent.text.slice(-4_000) },
    );
    if (answer === 'ended') throw new Error(`the agent ended: ${this.agent.text.slice(-4_000)}`);
    return answer;
  }

  /** Ends the agent, the runtime and all pods, and removes what they made. The Node object stays. */
  async destroy(): Promise<void> {
    await this.#agent?.end();
    await this.#service.close();
    await this.#folder.remove();
    await removeFolders(this.#absentBefore);
  }
}

/** Everything a node needs but the agent. */
export async function prepareNode(plane: ControlPlane, options: NodeOptions = {}): Promise<JoinedNode> {
  const name = options.name ?? 'node-1';
  const absentBefore = absentFolders();
  const folder = await realFolder('join');
  try {
    const software = runtimeNamed(options.runtime ?? 'containerd-1.6');
    const runtime = await startPrivateRuntime({ root: folder.root, log: silentLog, clock, software });
    const names = instanceNames(runtime.root);
    const address = subnetFromCidr(runtime.subnet)?.gateway;
    if (address === undefined) throw new Error(`the bridge has no address in ${runtime.subnet}`);
    const [healthzPort = 0, port = 0] = await loopbackPorts(2);
    const kubeconfig = options.bootstrap === true ? join(folder.path, 'kubeconfig') : await plane.nodeKubeconfig(name);
    const place = { names, address, port, healthzPort, endpoint: runtime.endpoint };
    mkdirSync(names.manifests, { recursive: true });
    writeFileSync(names.kubeletConfig, nodeConfiguration(plane, place, options.config));
    return new JoinedNode({
      name,
      plane,
      folder,
      runtime,
      address,
      kubeconfig,
      healthzPort,
      absentBefore,
      service: await openServiceAddress(plane, runtime.bridge),
      flags: [
        // Its place is what a removal recognizes agents by, also after this process was killed.
        `--config=${names.kubeletConfig}`,
        `--root-dir=${names.kubeletRoot}`,
        `--cert-dir=${join(names.kubeletRoot, 'pki')}`,
        `--kubeconfig=${kubeconfig}`,
        ...(options.bootstrap === true ? [`--bootstrap-kubeconfig=${plane.bootstrapKubeconfig()}`] : []),
        `--hostname-override=${name}`,
        `--node-ip=${address}`,
        '--v=2',
      ],
    });
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

/** Adds this machine as a node, looked after by tubelet unless told, and returns when it is Ready. */
export async function joinNode(
  plane: ControlPlane,
  options: NodeOptions & { readonly agent?: AgentProgram } = {},
): Promise<JoinedNode> {
  const node = await prepareNode(plane, options);
  try {
    node.start(options.agent ?? 'tubelet');
    await node.ready();
    return node;
  } catch (error) {
    await node.destroy();
    throw error;
  }
}

export function isReady(node: Node): boolean {
  return node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
}
