import { TubeletError } from '../base/errors.ts';
import type { CSINode, Node } from '../gen/kubernetes/types.ts';
import type { ApiClient, ApiObject, Mirror } from '../model/api-client.ts';
import type { ApiResource } from '../model/api-resources.ts';
import type { ObjectEvent } from '../model/object-event.ts';
import { applyStrategicMergePatch } from './apply-strategic-merge-patch.ts';
import { OwnNode, type NodeSettings, type NodeSources } from '../node/index.ts';
import type { NodeInputs } from '../node/status/setter.ts';
import { FakeClock } from './fake-clock.ts';
import { MemoryLog } from './memory-log.ts';
import { seededRandom } from './seeded-random.ts';

/** The machine of the recordings under test/golden/node. */
export const goldenSettings: NodeSettings = {
  nodeName: 'vm',
  nodeIps: [],
  externalCloudProvider: false,
  operatingSystem: 'linux',
  architecture: 'amd64',
  kubeletVersion: 'v1.34.11',
  port: 10250,
  maxPods: 250,
  podsPerCore: 0,
  reserved: { kube: {}, system: {} },
  evictionHard: { 'imagefs.available': '1%', 'memory.available': '100Mi', 'nodefs.available': '1%' },
  localStorageCapacityIsolation: true,
  maxImages: 50,
  labels: {},
  taints: [],
  providerId: '',
  controllerAttachDetach: true,
};

export const goldenInputs: NodeInputs = {
  settings: goldenSettings,
  identity: {
    machineId: '{{machineID}}',
    systemUuid: '{{systemUUID}}',
    bootId: '{{bootID}}',
    kernelVersion: '6.18.44-fc-v490',
    osImage: 'Debian GNU/Linux 12 (bookworm)',
  },
  network: {
    interfaces: [
      { name: 'lo', loopback: true, addresses: ['127.0.0.1', '::1'] },
      { name: 'eth0', loopback: false, addresses: ['192.0.2.2', 'fe80::1'] },
    ],
    defaultRoutes: [{ interface: 'eth0', family: 4 }],
  },
  resolved: ['127.0.1.1'],
  capacity: {
    cpu: '2',
    memory: String(24_684_100n * 1024n),
    pid: '32768',
    'hugepages-1Gi': '0',
    'hugepages-2Mi': '0',
    'ephemeral-storage': String(264_212_084n * 1024n),
  },
  swapBytes: 0n,
  devices: { capacity: {}, allocatable: {}, removed: [] },
  runtimeVersion: { name: 'containerd', version: '1.6.20' },
  images: [
    {
      id: 'sha256:p',
      digests: [],
      tags: ['3.10', '3.10.1', '3.6'].map((tag) => `registry.k8s.io/pause:${tag}`),
      sizeBytes: 686_861,
    },
    { id: 'sha256:n', digests: [], tags: [], sizeBytes: 430_850 },
    {
      id: 'sha256:b',
      digests: [],
      tags: [
        'docker.io/library/busybox:1.36',
        'docker.io/library/busybox:latest',
        'registry.k8s.io/e2e-test-images/busybox:1.29-4',
        'registry.k8s.io/e2e-test-images/busybox:1.36.1-1',
      ],
      sizeBytes: 2_417_411,
    },
  ],
  handlers: [],
  pressure: { memory: false, disk: false, pid: false },
  notReady: [],
  wasUnschedulable: false,
};

/** An API server with one node and its CSINode, as far as the node's actors use one. */
export class NodeWorld {
  readonly clock = new FakeClock();
  readonly random = seededRandom(7);
  readonly log = new MemoryLog();
  readonly recorded: ObjectEvent[] = [];
  readonly events = { record: (event: ObjectEvent) => void this.recorded.push(event) };
  readonly calls: string[] = [];
  readonly patches: unknown[] = [];
  node: Node | undefined;
  csiNode: CSINode | undefined;
  /** Asked at each call, by its name; what it answers is thrown. */
  failure: (call: string) => TubeletError | undefined = () => undefined;
  /** What the mirror shows while it is behind; otherwise it shows what there is. */
  stale: Node | 'none' | undefined;
  notReady: readonly string[] = [];
  images = async (): Promise<never[]> => [];
  resets = 0;
  #version = 100;

  readonly mirror: Pick<Mirror<Node>, 'get'> = {
    get: () => (this.stale === 'none' ? undefined : (this.stale ?? this.node)),
  };

  readonly sources: NodeSources = {
    host: {
      identity: async () =>
        goldenInputs.identity ?? { machineId: '', systemUuid: '', bootId: '', kernelVersion: '', osImage: '' },
      network: () => goldenInputs.network,
      lookup: async () => goldenInputs.resolved,
      capacity: () => goldenInputs.capacity,
      swapBytes: () => 0n,
      rootFsBytes: async () => 264_212_084n * 1024n,
    },
    runtime: {
      version: async () => ({
        version: '0.1.0',
        runtimeName: 'containerd',
        runtimeVersion: '1.6.20',
        runtimeApiVersion: 'v1',
      }),
      listImages: async () => ({ images: await this.images() }),
    },
    pressure: () => goldenInputs.pressure,
    devices: () => goldenInputs.devices,
    volumesInUse: () => undefined,
    notReady: () => this.notReady,
    handlers: () => [],
    features: () => undefined,
  };

  readonly api: ApiClient = {
    get: async (resource, _, options) => {
      this.#called('get', resource, options?.lane);
      return this.#found(resource) as never;
    },
    list: async () => {
      throw new TubeletError('unsupported', 'nobody lists here');
    },
    create: async (resource, _namespace, object, options) => {
      this.#called('create', resource, options?.lane);
      if (this.#stored(resource) !== undefined) throw new TubeletError('alreadyExists', 'already exists');
      return this.#store(resource, {
        ...object,
        metadata: { ...object.metadata, uid: `uid-${resource.plural}` },
      }) as never;
    },
    update: async (resource, _, object, options) => {
      this.#called('update', resource, options?.lane);
      this.#found(resource);
      return this.#store(resource, object) as never;
    },
    patch: async (resource, _, patch, options) => {
      this.#called(`patch ${options.subresource}`, resource, options.lane);
      this.patches.push(patch);
      const sent = JSON.parse(JSON.stringify(patch)) as object;
      return this.#store(resource, applyStrategicMergePatch(this.#found(resource), sent, resource.kind)) as never;
    },
    delete: async () => {
      throw new TubeletError('unsupported', 'nobody deletes here');
    },
  };

  ownNode(settings: Partial<NodeSettings> = {}): OwnNode {
    const { clock, log, sources } = this;
    return new OwnNode({ clock, log, sources, settings: { ...goldenSettings, ...settings } });
  }

  /** Calls since the last time. */
  taken(): readonly string[] {
    return this.calls.splice(0);
  }

  condition(type: string): string | undefined {
    return this.node?.status?.conditions?.find((condition) => condition.type === type)?.status;
  }

  #called(verb: string, resource: ApiResource, lane: string | undefined): void {
    const call = `${verb} ${resource.plural}`;
    this.calls.push(lane === 'vital' ? call : `${call} (${lane})`);
    const failure = this.failure(call);
    if (failure !== undefined) throw failure;
  }

  #stored(resource: ApiResource): ApiObject | undefined {
    return resource.kind === 'Node' ? this.node : this.csiNode;
  }

  #found(resource: ApiResource): ApiObject {
    const object = this.#stored(resource);
    if (object === undefined) throw new TubeletError('notFound', `no ${resource.kind}`);
    return object;
  }

  /** What the server keeps went through JSON, and carries a version. */
  #store(resource: ApiResource, object: ApiObject): ApiObject {
    const kept = JSON.parse(JSON.stringify(object)) as ApiObject;
    const stored = { ...kept, metadata: { ...kept.metadata, resourceVersion: String(++this.#version) } };
    if (resource.kind === 'Node') this.node = stored;
    else this.csiNode = stored as CSINode;
    return stored;
  }
}
