import { readdirSync, readFileSync } from 'node:fs';
import type { Container, ObjectMeta, Pod, PodSpec, PodStatus, Volume } from '../gen/kubernetes/types.ts';
import { desiredPod, type DesiredPod } from '../model/desired-pod.ts';
import type { HostDns } from '../model/dns.ts';
import { defaultPod } from '../model/pod-defaults.ts';
import { Quantity } from '../model/quantity.ts';
import type { NodeFacts, RuntimeSettings } from '../model/runtime-settings.ts';
import type { ServiceObject } from '../model/service-environment.ts';

/**
 * Records of what a reference kubelet did with a set of pods, under test/golden. Names, ids and times of the recording
 * are replaced by placeholders in double braces; the pods made here carry the placeholders as their real names, so that
 * what is computed from them can be compared without translation.
 */
export interface GoldenRecord {
  readonly name: string;
  readonly manifest: Pod;
  /** Only for static pods. */
  readonly source?: 'file';
  readonly mirror?: Pod;
  readonly cri: readonly GoldenCall[];
  readonly statuses: readonly GoldenStatus[];
  readonly events: readonly GoldenEvent[];
  readonly logs: Readonly<Record<string, string>>;
  /** Mode, owner, kind and path of what was under the pod's directory while it ran. */
  readonly files: readonly string[];
  /** For how many seconds the pod was left alone before it was deleted; static pods have no such word. */
  readonly recording?: { readonly hold: number };
}

export interface GoldenCall {
  readonly verb: string;
  readonly request: {
    readonly config?: GoldenMessage;
    readonly sandboxConfig?: GoldenMessage;
    readonly [field: string]: unknown;
  };
  readonly error?: { readonly code: number; readonly message: string };
}

type GoldenMessage = Readonly<Record<string, unknown>> & {
  readonly metadata: { readonly name: string; readonly attempt?: number };
};

export interface GoldenStatus extends PodStatus {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly deleting?: boolean;
}

export interface GoldenEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly fieldPath?: string;
}

const folder = 'test/golden';

/** The records that were given; `more` are those made since with the same recorder. */
export type GoldenSet = 'pods' | 'more';

export function goldenNames(set: GoldenSet = 'pods'): readonly string[] {
  return readdirSync(`${folder}/${set}`)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .sort();
}

export function loadGolden(name: string, set: GoldenSet = 'pods'): GoldenRecord {
  const record = JSON.parse(readFileSync(`${folder}/${set}/${name}.json`, 'utf8')) as Partial<GoldenRecord>;
  return { cri: [], statuses: [], events: [], logs: {}, files: [], ...record, name } as GoldenRecord;
}

const apiAccess = 'kube-api-access-{{rand}}';
const apiAccessVolume: Volume = {
  name: apiAccess,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: 3_607, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
    ],
  },
};

/** The pod as the API server handed it to the kubelet: defaulted, bound, with the access of its service account. */
export function goldenPod(record: GoldenRecord): DesiredPod {
  return record.mirror === undefined ? apiPod(record) : staticPod(record, record.mirror);
}

function apiPod(record: GoldenRecord): DesiredPod {
  const manifest = record.manifest.spec ?? { containers: [] };
  const spec: PodSpec = {
    ...manifest,
    nodeName: '{{node}}',
    serviceAccountName: 'default',
    terminationGracePeriodSeconds: manifest.terminationGracePeriodSeconds ?? 1,
    containers: manifest.containers.map(withApiAccess),
    ...(manifest.initContainers && { initContainers: manifest.initContainers.map(withApiAccess) }),
    volumes: [...(manifest.volumes ?? []), apiAccessVolume],
  };
  const metadata: ObjectMeta = {
    ...record.manifest.metadata,
    uid: '{{podUid}}',
    namespace: '{{namespace}}',
    generation: 1,
    annotations: {
      ...record.manifest.metadata?.annotations,
      'kubernetes.io/config.source': 'api',
      'kubernetes.io/config.seen': '{{time}}',
    },
  };
  const { type: _, ...status } = record.statuses[0] ?? { type: 'ADDED' };
  return desiredPod('api', { ...defaultPod({ metadata, spec }), status });
}

function withApiAccess(container: Container): Container {
  const access = { name: apiAccess, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true };
  return { ...container, volumeMounts: [...(container.volumeMounts ?? []), access] };
}

/** A mirror is the static pod with another uid and a word about whom it mirrors. */
function staticPod(record: GoldenRecord, mirror: Pod): DesiredPod {
  const { 'kubernetes.io/config.mirror': _, ...annotations } = mirror.metadata?.annotations ?? {};
  const { generation: __, ...metadata } = mirror.metadata ?? {};
  return desiredPod(record.source ?? 'file', {
    metadata: { ...metadata, uid: '{{podUid}}', annotations },
    ...(mirror.spec && { spec: mirror.spec }),
    status: { phase: 'Pending' },
  });
}

/** Where the recorded kubelet had put a volume. */
export function goldenVolume(volume: Volume): { readonly hostPath: string; readonly readOnly?: boolean } {
  const path = (plugin: string): string => `{{rootDir}}/pods/{{podUid}}/volumes/kubernetes.io~${plugin}/${volume.name}`;
  if (volume.hostPath !== undefined) return { hostPath: volume.hostPath.path };
  if (volume.configMap !== undefined) return { hostPath: path('configmap'), readOnly: true };
  if (volume.secret !== undefined) return { hostPath: path('secret'), readOnly: true };
  if (volume.projected !== undefined) return { hostPath: path('projected'), readOnly: true };
  return { hostPath: path('empty-dir') };
}

/** The configuration of the recorded kubelet. */
export const goldenSettings: RuntimeSettings = {
  nodeName: '{{node}}',
  rootDir: '{{rootDir}}',
  podLogsDir: '/var/log/pods',
  cgroupRoot: '/',
  cgroupDriver: 'cgroupfs',
  cgroupsPerQos: true,
  cgroupVersion: 1,
  clusterDns: ['10.96.0.10'],
  clusterDomain: 'cluster.local',
  resolvConf: '/etc/resolv.conf',
  seccompDefault: false,
  seccompProfileRoot: '{{rootDir}}/seccomp',
  cpuCfsQuota: true,
  cpuCfsQuotaPeriodMs: 100,
  singleProcessOomKill: true,
  memorySwapBehavior: 'NoSwap',
  swapControllerAvailable: true,
  memoryThrottlingFactor: 0.9,
  selinuxEnabled: false,
  featureGates: () => false,
};

export const goldenHostDns: HostDns = { servers: ['10.255.255.53'], searches: [], options: [] };

/** The machine of the recording, from its Node object. */
export function goldenNode(): NodeFacts {
  const node = JSON.parse(readFileSync(`${folder}/node/node.json`, 'utf8')) as {
    readonly status: { readonly allocatable: Record<string, string>; readonly capacity: Record<string, string> };
  };
  return {
    memoryCapacityBytes: Quantity.parse(node.status.capacity['memory'] ?? '0').value(),
    swapCapacityBytes: 0n,
    allocatable: node.status.allocatable,
    hugePageSizes: ['2MB', '1GB'],
    thermalThrottlePaths: [],
  };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The objects that the recorded pods refer to. */
export function goldenLookup(serviceIp = '{{serviceIP}}') {
  const services: readonly ServiceObject[] = [
    {
      metadata: { name: 'web-svc', namespace: '{{namespace}}' },
      spec: {
        clusterIP: serviceIp,
        ports: [
          { name: 'http', port: 80, protocol: 'TCP' },
          { name: 'adm', port: 9000, protocol: 'UDP' },
        ],
      },
    },
    {
      metadata: { name: 'kubernetes', namespace: 'default' },
      spec: { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443, protocol: 'TCP' }] },
    },
  ];
  const configMaps = new Map([
    ['cm', { data: { alpha: 'one', 'b.conf': 'two\n', BETA_KEY: 'three', '1bad.key': 'x' } }],
  ]);
  const secrets = new Map([['sec', { data: { user: base64('u'), pass: base64('p@ss') } }]]);
  return {
    configMap: (_namespace: string, name: string) => configMaps.get(name),
    secret: (_namespace: string, name: string) => secrets.get(name),
    services: () => services,
  };
}
