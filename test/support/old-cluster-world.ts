import { HttpApiClient, type ApiTransport } from '../../src/apiserver/index.ts';
import { TubeletError } from '../../src/base/errors.ts';
import type { PodUid } from '../../src/base/ids.ts';
import type { Event, Node, Pod, PodSpec } from '../../src/gen/kubernetes/types.ts';
import { ComponentRunner } from '../../src/main/component-runner.ts';
import { podEvents } from '../../src/main/agent/pod-events.ts';
import { createSignals } from '../../src/main/agent/signals.ts';
import { SyncLoopInbox } from '../../src/pods/sync-loop/index.ts';
import type { PodWorldDeps } from './pod-world.ts';
import { apiResources } from '../../src/model/api-resources.ts';
import { desiredPod, podObject, type DesiredPod } from '../../src/model/desired-pod.ts';
import { toStaticPod } from '../../src/model/static-pod.ts';
import { FakeApiServer, type RequestFilter } from '../../src/testing/fake-api-server/index.ts';
import { aContainer, aPod } from '../../src/testing/pods.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { Registry } from '../../src/telemetry/index.ts';
import { AgentWorld, testSettings } from './agent-world.ts';

export const nodeName = testSettings.nodeName;

interface ClusterWorldOptions {
  readonly seed?: number;
  /** Whether the node has been registered before; it has unless told. */
  readonly registered?: boolean;
  /** How ConfigMaps and Secrets are looked at; watched unless told. */
  readonly objectStrategy?: string;
  /** Whether certificates of the API server are shown to pods; they are not unless told. */
  readonly trustBundles?: boolean;
  /** Budget of the client for everything but events. */
  readonly limits?: { readonly qps: number; readonly burst: number };
  /** What else the agent is wired with. */
  readonly machine?: Partial<PodWorldDeps> | ((node: AgentWorld) => Partial<PodWorldDeps>);
}

/** A pod of the manifests folder, as the file source would tell of it. Its name gets the node's behind it. */
export function aStaticPod(name: string, spec: Partial<PodSpec> = {}): DesiredPod {
  const manifest = podObject(aPod({ name, spec }));
  const { uid: _, ...metadata } = manifest.metadata ?? {};
  const origin = { nodeName, source: 'file', origin: `/manifests/${name}.yaml`, seen: '2025-01-01T00:00:00Z' } as const;
  return desiredPod('file', toStaticPod({ ...manifest, metadata }, origin));
}

/** One life of the agent, and its wire, which can be cut. */
interface Life {
  readonly registry: Registry;
  readonly signal: AbortController;
  cut: boolean;
}

/** A node of a cluster on virtual time: an API server, a runtime and a disk that outlive the agent. */
export class ClusterWorld {
  readonly api: FakeApiServer;
  readonly node: AgentWorld;
  /** Pods that were woken because something they use changed. */
  readonly woken: string[] = [];
  readonly #options: ClusterWorldOptions;
  #life: Life | undefined;
  #runner: ComponentRunner | undefined;
  #manifests: readonly DesiredPod[] = [];

  constructor(options: ClusterWorldOptions = {}) {
    this.#options = options;
    const { seed = 1 } = options;
    this.node = new AgentWorld({ seed, source: 'api', machine: () => this.#wire() });
    this.api = new FakeApiServer({ clock: this.clock, random: seededRandom(seed + 7) });
    if (options.registered !== false) this.registerNode();
  }

  get clock(): AgentWorld['clock'] {
    return this.node.clock;
  }

  get cri(): AgentWorld['cri'] {
    return this.node.cri;
  }

  /** The metrics of the life that is. */
  get registry(): Registry {
    return this.#living().registry;
  }

  /** Page of metrics of the life that is. */
  get metrics(): string {
    return this.#life?.registry.render() ?? '';
  }

  registerNode(): void {
    this.api.objects.put<Node>({ apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName } });
  }

  /** Starts the agent, and lets it do what it can at once. */
  async start(): Promise<void> {
    const { clock, node } = this;
    await node.startSilent();
    const { signal } = this.#living();
    this.#runner = new ComponentRunner({ clock, log: node.log, stopMs: 10_000 });
    const { api, clusterComponents } = node.machine;
    await this.#runner.start([...(api ? [api.recorder] : []), ...clusterComponents], signal.signal);
    node.machine.set('file', this.#manifests);
    await clock.advance(0);
  }

  /** Ends the agent in order; pods go on. */
  async stop(options: { readonly checkpoint?: boolean } = {}): Promise<void> {
    const [runner, life] = [this.#runner, this.#life];
    this.#runner = this.#life = undefined;
    life?.signal.abort(new TubeletError('cancelled', 'the agent ends'));
    const stopped = runner?.stop();
    await this.clock.advance(0);
    await stopped;
    await this.node.stop(options);
  }

  /** From now on nothing the agent says arrives: it is dead, and only its last moments are played to the end. */
  async kill(): Promise<void> {
    if (this.#life !== undefined) this.#life.cut = true;
    await this.stop();
  }

  /** What stands in the manifests folder. */
  async manifests(...pods: readonly DesiredPod[]): Promise<void> {
    this.#manifests = pods;
    if (this.node.running) this.node.machine.set('file', pods);
    await this.clock.advance(0);
  }

  /** A pod that somebody made and the scheduler bound here; answers its uid. */
  bind(name: string, spec: Partial<PodSpec> = {}, more: Pod['metadata'] = {}): string {
    const pod = this.api.objects.put<Pod>({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', ...more },
      spec: { containers: [aContainer('main')], dnsPolicy: 'Default', nodeName, ...spec },
    });
    return pod.metadata?.uid ?? '';
  }

  /** The pod as the API server has it. */
  pod(name: string, namespace = 'default'): Pod | undefined {
    return this.api.objects.find<Pod>(apiResources.pods, { namespace, name });
  }

  phase(name: string): string | undefined {
    return this.pod(name)?.status?.phase;
  }

  isReady(name: string): boolean {
    return (
      this.pod(name)?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
    );
  }

  /** As a user does it. */
  delete(name: string, graceSeconds?: number): void {
    this.api.objects.remove(apiResources.pods, { namespace: 'default', name }, graceSeconds);
  }

  /** Containers of a pod in the runtime, in short, by its name. */
  containers(name: string): string[] {
    return [...this.cri.state.containers.values()]
      .filter(({ config }) => config.labels['io.kubernetes.pod.name'] === name)
      .map(({ config, state }) => `${config.metadata?.name}#${config.metadata?.attempt} ${state}`);
  }

  /** Events as the API server has them, in short: pod reason count, in the order in which they came. */
  events(): string[] {
    return this.api.objects
      .all<Event>(apiResources.events)
      .toSorted((one, other) => versionOf(one) - versionOf(other))
      .map(({ involvedObject, reason, count }) => `${involvedObject.name} ${reason} ${count}`);
  }

  /** What the events of a pod say. */
  messages(name: string): readonly (string | undefined)[] {
    const events = this.api.objects.all<Event>(apiResources.events);
    return events.filter(({ involvedObject }) => involvedObject.name === name).map(({ message }) => message);
  }

  /** Writes about pods that arrived, in short. */
  writes(filter: RequestFilter = {}): string[] {
    return this.api
      .requests({ resource: 'pods', ...filter })
      .filter(({ verb }) => verb !== 'list' && verb !== 'watch' && verb !== 'get')
      .map(({ verb, name, subresource, body }) => {
        const made = (body as Pod | undefined)?.metadata?.name;
        return [verb, subresource, name ?? made].filter((word) => word !== undefined).join(' ');
      });
  }

  #living(): Life {
    if (this.#life === undefined) throw new Error('the agent is not running');
    return this.#life;
  }

  #wire(): Partial<PodWorldDeps> {
    const { clock, node, api } = this;
    const { objectStrategy = 'Watch', trustBundles = false, limits, machine } = this.#options;
    const life: Life = { registry: new Registry(), signal: new AbortController(), cut: false };
    this.#life = life;
    const transport: ApiTransport = {
      send: async (request) => {
        if (life.cut) throw new TubeletError('unavailable', 'the agent is dead');
        return api.send(request);
      },
      reset: () => api.reset(),
      close: async () => {},
    };
    const client = new HttpApiClient({
      clock,
      transport,
      log: node.log,
      userAgent: 'kubelet/test',
      credentials: { authorization: async () => undefined },
      ...(limits && { limits: { normal: limits } }),
    });
    return {
      signals: { ...createSignals(node.log), inbox: new NotedInbox(this.woken) },
      sources: ['api', 'file'],
      metrics: life.registry,
      cluster: {
        access: { api: client },
        nodeName,
        objectStrategy,
        trustBundles,
        signal: life.signal.signal,
        eventsOf: ({ recorder }) => podEvents(node.log, recorder),
      },
      ...(typeof machine === 'function' ? machine(node) : machine),
    };
  }
}

/** An inbox that notes which pods are woken because something they use has changed. */
class NotedInbox extends SyncLoopInbox {
  readonly #woken: string[];

  constructor(woken: string[]) {
    super();
    this.#woken = woken;
  }

  override resourcesChanged(uids: readonly PodUid[]): void {
    this.#woken.push(...uids);
    super.resourcesChanged(uids);
  }
}

function versionOf({ metadata }: Event): number {
  return Number(metadata.resourceVersion ?? 0);
}
