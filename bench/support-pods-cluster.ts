import { readFileSync } from 'node:fs';
import { Heartbeats } from '../src/base/heartbeats.ts';
import { connectApiServer, HttpApiClient, Reflector, type ApiTransport } from '../src/apiserver/index.ts';
import { loadKubeconfig } from '../src/testing/load-kubeconfig.ts';
import { silentLog } from '../src/base/log.ts';
import { systemRandom } from '../src/base/system-random.ts';
import type { Pod, PodSpec } from '../src/gen/kubernetes/types.ts';
import { apiResources } from '../src/model/api-resources.ts';
import { startControlPlane, type ControlPlane } from '../test/real/control-plane/control-plane.ts';
import { prepareNode, type AgentProgram, type JoinedNode } from '../test/real/control-plane/join-node.ts';
import { clock, until } from '../test/support/real-wait.ts';
import { PodTimes, wallMs } from './support-pods-times.ts';

export const namespaceOf: Readonly<Record<AgentProgram, string>> = { tubelet: 'by-tubelet', kubelet: 'by-kubelet' };

/** A control plane, one node with one runtime, and whichever agent is asked for. */
export class BenchCluster {
  readonly #plane: ControlPlane;
  readonly #node: JoinedNode;
  readonly #api: HttpApiClient;
  readonly #transport: ApiTransport;
  readonly #watch: Reflector<Pod>;
  readonly #times: PodTimes;
  readonly #ending = new AbortController();

  private constructor(plane: ControlPlane, node: JoinedNode, api: HttpApiClient, transport: ApiTransport) {
    this.#plane = plane;
    this.#node = node;
    this.#api = api;
    this.#transport = transport;
    const deps = { api, clock, random: systemRandom(), log: silentLog };
    this.#watch = new Reflector<Pod>({ heartbeats: new Heartbeats(), ...deps, resource: apiResources.pods });
    this.#times = new PodTimes(this.#watch);
  }

  static async start(): Promise<BenchCluster> {
    const plane = await startControlPlane();
    let node: JoinedNode | undefined;
    try {
      node = await prepareNode(plane);
      const deps = { clock, log: silentLog, environment: {} };
      const { transport, credentials } = await connectApiServer(await loadKubeconfig(plane.adminKubeconfig), deps);
      // Fifty pods at once are at once only if nobody makes them queue here.
      const limits = { normal: { qps: 0, burst: 0 } };
      const api = new HttpApiClient({ ...deps, transport, credentials, userAgent: 'bench', limits });
      const cluster = new BenchCluster(plane, node, api, transport);
      await cluster.#open();
      return cluster;
    } catch (error) {
      await node?.destroy();
      await plane.stop();
      throw error;
    }
  }

  async #open(): Promise<void> {
    for (const name of Object.values(namespaceOf)) {
      await this.#plane.ask('create', 'namespace', name);
      await until(`pods can be made in ${name}`, async () => {
        await this.#plane.ask('get', 'serviceaccount/default', 'configmap/kube-root-ca.crt', `--namespace=${name}`);
        return true;
      });
    }
    await this.#watch.start(this.#ending.signal);
    await this.#watch.whenSynced(this.#ending.signal);
  }

  /** A new process of that agent, over the same root directory, kubeconfig and runtime, once its node is Ready. */
  async use(agent: AgentProgram, flags: readonly string[] = []): Promise<void> {
    await this.#node.stopAgent();
    // The Ready of the agent before is not the new one's.
    const ready = async (): Promise<boolean> => {
      const renewed = await this.#plane.ask('get', 'lease', this.#node.name, '--namespace=kube-node-lease', renewTime);
      return Date.parse(renewed) > startedAt;
    };
    const startedAt = wallMs();
    this.#node.start(agent, flags);
    await until(`the ${agent} renews its lease`, ready, { timeoutMs: 120_000, state: () => this.log.slice(-4_000) });
    await this.#node.ready();
  }

  async stopAgent(): Promise<void> {
    await this.#node.stopAgent();
  }

  get log(): string {
    return this.#node.agent.text;
  }

  get agentPid(): number {
    return this.#node.agent.pid;
  }

  get runtimePid(): number {
    return this.#node.runtime.pid;
  }

  /** Where the agent's secured port is, and an identity that may ask there for everything. */
  async agentServer(): Promise<AgentServer> {
    const { addresses = [], daemonEndpoints } = (await this.#node.ready()).status ?? {};
    const host = addresses.find(({ type }) => type === 'InternalIP')?.address ?? '';
    const files = await this.#plane.authority.issue('scraper', { user: 'scraper', group: 'system:masters' });
    const [cert, key] = [readFileSync(files.certificate), readFileSync(files.key)];
    return { origin: `https://${host}:${daemonEndpoints?.kubeletEndpoint?.Port}`, cert, key };
  }

  /** Both moments by the wall: when the request was sent, and when the watch showed what it was sent for. */
  async create(namespace: string, name: string, containers = 1, spec: Partial<PodSpec> = {}): Promise<Lapse> {
    const seen = this.#times.ready(namespace, name);
    const sentAt = wallMs();
    const pod = benchPod(name, this.#node, containers);
    await this.#api.create(apiResources.pods, namespace, withSpec(pod, spec));
    return { sentAt, seenAt: await this.#inTime(seen, `pod ${name} is Ready`) };
  }

  async delete(namespace: string, name: string): Promise<Lapse> {
    const seen = this.#times.gone(namespace, name);
    const sentAt = wallMs();
    await this.#api.delete(apiResources.pods, { namespace, name });
    return { sentAt, seenAt: await this.#inTime(seen, `pod ${name} is gone`) };
  }

  /** What pods name: a ConfigMap and a Secret with the same data. */
  async objects(namespace: string, data: Readonly<Record<string, string>>): Promise<void> {
    const metadata = { name: 'bench' };
    const common = { apiVersion: 'v1', metadata };
    await this.#api.create(apiResources.configMaps, namespace, { ...common, kind: 'ConfigMap', data });
    const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
    const secret = { ...common, kind: 'Secret', data: Object.fromEntries(encoded) };
    await this.#api.create(apiResources.secrets, namespace, secret);
  }

  async destroy(): Promise<void> {
    this.#ending.abort();
    await this.#watch.stop();
    await this.#transport.close();
    await this.#node.destroy();
    await this.#plane.stop();
  }

  async #inTime(seen: Promise<number>, what: string): Promise<number> {
    const lost = new AbortController();
    const late = clock.sleep(patienceMs, lost.signal).then(
      () => {
        throw new Error(`waited in vain until ${what}: ${this.log.slice(-4_000)}`);
      },
      () => Number.NaN,
    );
    try {
      return await Promise.race([seen, late]);
    } finally {
      lost.abort();
    }
  }
}

export interface AgentServer {
  readonly origin: string;
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface Lapse {
  readonly sentAt: number;
  readonly seenAt: number;
}

const patienceMs = 240_000;
const renewTime = '--output=jsonpath={.spec.renewTime}';

/** The same pod with more to it; its containers use all volumes. */
function withSpec(pod: Pod, spec: Partial<PodSpec>): Pod {
  const volumeMounts = (spec.volumes ?? []).map(({ name }) => ({ name, mountPath: `/${name}` }));
  const containers = (pod.spec?.containers ?? []).map((container) => ({ ...container, volumeMounts }));
  return { ...pod, spec: { ...pod.spec, ...spec, containers } };
}

/** Bound as it is made, so that no scheduler's time is in the measure. Its token comes as a projected volume. */
function benchPod(name: string, node: JoinedNode, containers: number): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      nodeName: node.name,
      containers: Array.from({ length: containers }, (_, index) => ({
        name: index === 0 ? 'main' : `main-${index}`,
        image: node.image,
        imagePullPolicy: 'IfNotPresent',
        command: ['/bin/sh', '-c', 'trap "exit 0" TERM; sleep 100000 & wait'],
      })),
    },
  };
}
