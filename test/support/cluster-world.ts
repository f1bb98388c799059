import type { Event, Node, Pod, PodSpec } from '../../src/gen/kubernetes/types.ts';
import { apiResources } from '../../src/model/api-resources.ts';
import { desiredPod, podObject, type DesiredPod } from '../../src/model/desired-pod.ts';
import { toStaticPod } from '../../src/model/static-pod.ts';
import type { FakeApiServer, RequestFilter } from '../../src/testing/fake-api-server/index.ts';
import { aContainer, aPod } from '../../src/testing/pods.ts';
import type { Registry } from '../../src/telemetry/index.ts';
import { manifestFolder, nodeName } from './agent-settings.ts';
import { WholeAgent, type WholeAgentOptions } from './whole-agent.ts';

export { nodeName };

export interface ClusterWorldOptions {
  readonly seed?: number;
  /** Whether the node has been registered before; it has unless told, and where not the agent may not do it. */
  readonly registered?: boolean;
  /** How ConfigMaps and Secrets are looked at; watched unless told. */
  readonly objectStrategy?: 'Watch' | 'Cache' | 'Get';
  /** Whether certificates of the API server are shown to pods; they are not unless told. */
  readonly trustBundles?: boolean;
  /** Budget of the client for everything but events. */
  readonly limits?: { readonly qps: number; readonly burst: number };
  /** What a configuration file would say. */
  readonly config?: WholeAgentOptions['config'];
}

/** A pod of the manifests folder, as the file source would tell of it. Its name gets the node's behind it. */
export function aStaticPod(name: string, spec: Partial<PodSpec> = {}): DesiredPod {
  const manifest = podObject(aPod({ name, spec }));
  const { uid: _, ...metadata } = manifest.metadata ?? {};
  const origin = { nodeName, source: 'file', origin: `/manifests/${name}.yaml`, seen: '2025-01-01T00:00:00Z' } as const;
  return desiredPod('file', toStaticPod({ ...manifest, metadata }, origin));
}

const checkpointPath = '/var/lib/kubelet/pod_statuses_state';

/** A node of a cluster on virtual time: an API server, a runtime and a disk that outlive the agent. */
export class ClusterWorld {
  /** Pods that were woken because something they use changed. */
  readonly woken: string[] = [];
  /** Pods of which nothing is left on the node. */
  readonly gone: string[] = [];
  readonly #agent: WholeAgent;

  constructor(options: ClusterWorldOptions = {}) {
    const { seed = 1, registered = true, objectStrategy, trustBundles, limits, config = {} } = options;
    const gates =
      trustBundles === true ? ['--feature-gates=ClusterTrustBundle=true,ClusterTrustBundleProjection=true'] : [];
    this.#agent = new WholeAgent({
      seed,
      cluster: true,
      flags: [...gates, ...(registered ? [] : ['--register-node=false'])],
      config: {
        ...config,
        ...(objectStrategy !== undefined && { configMapAndSecretChangeDetectionStrategy: objectStrategy }),
      },
      overrides: () => (limits === undefined ? {} : { apiLimits: limits }),
    });
    this.#agent.machine.capacity['cpu'] = '4';
    if (registered) this.registerNode();
  }

  get clock(): WholeAgent['clock'] {
    return this.#agent.clock;
  }

  get cri(): WholeAgent['machine']['cri'] {
    return this.#agent.machine.cri;
  }

  get api(): FakeApiServer {
    return this.#agent.api;
  }

  /** The machine below the agent. */
  get machine(): WholeAgent['machine'] {
    return this.#agent.machine;
  }

  get heartbeats(): WholeAgent['heartbeats'] {
    return this.#agent.heartbeats;
  }

  /** What the life that is decided. */
  get recorder(): WholeAgent['recorder'] {
    return this.#agent.recorder;
  }

  /** The metrics of the life that is. */
  get registry(): Registry {
    return this.#agent.registry;
  }

  /** Page of metrics of the life that is. */
  get metrics(): string {
    return this.registry.render();
  }

  registerNode(): void {
    this.api.objects.put<Node>({ apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName } });
  }

  /** Starts the agent, and lets it do what it can at once. */
  async start(): Promise<void> {
    await this.#agent.start();
    const { inbox, podRemoval } = this.#agent.views.signals;
    podRemoval.register('world', { forget: (uid) => void this.gone.push(uid), size: () => 0 });
    const told = inbox.resourcesChanged.bind(inbox);
    inbox.resourcesChanged = (uids) => {
      this.woken.push(...uids);
      told(uids);
    };
    await this.clock.advance(0);
  }

  /** Ends the agent in order; pods go on. Without its checkpoint the next one knows only what it sees. */
  async stop({ checkpoint = true }: { readonly checkpoint?: boolean } = {}): Promise<void> {
    await this.#agent.stop();
    if (!checkpoint) await this.machine.files.removeFile(checkpointPath);
  }

  /** From now on nothing the agent says arrives: it is dead, and only its last moments are played to the end. */
  async kill(): Promise<void> {
    await this.#agent.kill();
  }

  /** What stands in the manifests folder. */
  async manifests(...pods: readonly DesiredPod[]): Promise<void> {
    const { manifests } = this.machine;
    const wanted = new Map(pods.map((pod) => [fileOf(pod), manifestOf(pod)]));
    for (const path of manifests.texts.keys()) if (!wanted.has(path)) manifests.remove(path);
    for (const [path, text] of wanted) if (manifests.texts.get(path) !== text) manifests.put(path, text);
    // A look at the folder follows a change after a millisecond.
    await this.clock.advance(2);
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

  /** The same by its uid. */
  containersOf(uid: string): string[] {
    return [...this.cri.state.containers.values()]
      .filter(({ config }) => config.labels['io.kubernetes.pod.uid'] === uid)
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
}

/** The name of a static pod without that of its node. */
const ownName = ({ name }: DesiredPod): string => name.replace(`-${nodeName}`, '');
const fileOf = (pod: DesiredPod): string => `${manifestFolder}/${ownName(pod)}.json`;

/** A manifest of which the agent makes this very pod: it keeps a uid that is given. */
function manifestOf(pod: DesiredPod): string {
  const { metadata: { namespace } = {}, spec } = podObject(pod);
  const metadata = { name: ownName(pod), namespace, uid: pod.uid };
  return JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec });
}

function versionOf({ metadata }: Event): number {
  return Number(metadata.resourceVersion ?? 0);
}
