import { Duration } from '../../base/duration.ts';
import { object, optional, plain, pointer, shown, span, type ObjectValue } from './field-types.ts';

const strings = { list: 'string' } as const;
const texts = { map: 'string' } as const;

const authentication = object({
  x509: object({ clientCAFile: plain('string') }),
  webhook: object({ enabled: pointer('bool', true), cacheTTL: span('2m') }),
  anonymous: object({ enabled: pointer('bool', false) }),
});

const authorization = object({
  mode: plain('string', 'Webhook'),
  webhook: object({ cacheAuthorizedTTL: span('5m'), cacheUnauthorizedTTL: span('30s') }),
});

const outputOptions = object({ splitStream: plain('bool'), infoBufferSize: shown('quantity') });

const logging = object({
  format: plain('string', 'text'),
  flushFrequency: plain('durationOrNanos', Duration.parse('5s')),
  verbosity: shown('uint32'),
  vmodule: plain({ list: { object: { filePattern: plain('string'), verbosity: shown('uint32') } } }),
  options: object({ text: outputOptions, json: outputOptions }),
});

const podPriorityGrace = { priority: shown('int32'), shutdownGracePeriodSeconds: shown('int64') };
const memoryReservation = { numaNode: shown('int32'), limits: plain({ map: 'quantity' }) };
const taint = {
  key: shown('string'),
  value: plain('string'),
  effect: shown('string'),
  timeAdded: optional('string'),
};

/**
 * All fields of KubeletConfiguration v1beta1, in the order in which `/configz` shows them, with types and defaults.
 * Decoding, defaulting, printing and the type below all follow this table.
 */
export const kubeletFields = {
  enableServer: pointer('bool', true),
  staticPodPath: plain('string'),
  podLogsDir: plain('string', '/var/log/pods'),
  syncFrequency: span('1m'),
  fileCheckFrequency: span('20s'),
  httpCheckFrequency: span('20s'),
  staticPodURL: plain('string'),
  staticPodURLHeader: plain({ map: strings }),
  address: plain('string', '0.0.0.0'),
  port: plain('int32', 10250),
  readOnlyPort: plain('int32'),
  tlsCertFile: plain('string'),
  tlsPrivateKeyFile: plain('string'),
  tlsCipherSuites: plain(strings),
  tlsMinVersion: plain('string'),
  rotateCertificates: plain('bool'),
  serverTLSBootstrap: plain('bool'),
  authentication,
  authorization,
  registryPullQPS: pointer('int32', 5),
  registryBurst: plain('int32', 10),
  imagePullCredentialsVerificationPolicy: plain('string'),
  preloadedImagesVerificationAllowlist: plain(strings),
  eventRecordQPS: pointer('int32', 50),
  eventBurst: plain('int32', 100),
  enableDebuggingHandlers: pointer('bool', true),
  enableContentionProfiling: plain('bool'),
  healthzPort: pointer('int32', 10248),
  healthzBindAddress: plain('string', '127.0.0.1'),
  oomScoreAdj: pointer('int32', -999),
  clusterDomain: plain('string'),
  clusterDNS: plain(strings),
  streamingConnectionIdleTimeout: span('4h'),
  nodeStatusUpdateFrequency: span('10s'),
  nodeStatusReportFrequency: span('5m'),
  nodeLeaseDurationSeconds: plain('int32', 40),
  imageMinimumGCAge: span('2m'),
  imageMaximumGCAge: plain('duration'),
  imageGCHighThresholdPercent: pointer('int32', 85),
  imageGCLowThresholdPercent: pointer('int32', 80),
  volumeStatsAggPeriod: span('1m'),
  kubeletCgroups: plain('string'),
  systemCgroups: plain('string'),
  cgroupRoot: plain('string'),
  cgroupsPerQOS: pointer('bool', true),
  cgroupDriver: plain('string', 'cgroupfs'),
  cpuManagerPolicy: plain('string', 'none'),
  singleProcessOOMKill: optional('bool'),
  cpuManagerPolicyOptions: plain(texts),
  cpuManagerReconcilePeriod: span('10s'),
  memoryManagerPolicy: plain('string', 'None'),
  topologyManagerPolicy: plain('string', 'none'),
  topologyManagerScope: plain('string', 'container'),
  topologyManagerPolicyOptions: plain(texts),
  qosReserved: plain(texts),
  runtimeRequestTimeout: span('2m'),
  hairpinMode: plain('string', 'promiscuous-bridge'),
  maxPods: plain('int32', 110),
  podCIDR: plain('string'),
  podPidsLimit: pointer('int64', -1),
  resolvConf: pointer('string', '/etc/resolv.conf'),
  runOnce: plain('bool'),
  cpuCFSQuota: pointer('bool', true),
  cpuCFSQuotaPeriod: pointer('duration', Duration.parse('100ms')),
  nodeStatusMaxImages: pointer('int32', 50),
  maxOpenFiles: plain('int64', 1_000_000),
  contentType: plain('string', 'application/vnd.kubernetes.protobuf'),
  kubeAPIQPS: pointer('int32', 50),
  kubeAPIBurst: plain('int32', 100),
  serializeImagePulls: pointer('bool', true),
  maxParallelImagePulls: optional('int32'),
  evictionHard: plain(texts),
  evictionSoft: plain(texts),
  evictionSoftGracePeriod: plain(texts),
  evictionPressureTransitionPeriod: span('5m'),
  evictionMaxPodGracePeriod: plain('int32'),
  evictionMinimumReclaim: plain(texts),
  mergeDefaultEvictionSettings: pointer('bool', false),
  podsPerCore: plain('int32'),
  enableControllerAttachDetach: pointer('bool', true),
  protectKernelDefaults: plain('bool'),
  makeIPTablesUtilChains: pointer('bool', true),
  iptablesMasqueradeBit: pointer('int32', 14),
  iptablesDropBit: pointer('int32', 15),
  featureGates: plain({ map: 'bool' }),
  failSwapOn: pointer('bool', true),
  memorySwap: object({ swapBehavior: plain('string') }),
  containerLogMaxSize: plain('string', '10Mi'),
  containerLogMaxFiles: pointer('int32', 5),
  containerLogMaxWorkers: pointer('int32', 1),
  containerLogMonitorInterval: pointer('duration', Duration.parse('10s')),
  configMapAndSecretChangeDetectionStrategy: plain('string', 'Watch'),
  systemReserved: plain(texts),
  kubeReserved: plain(texts),
  reservedSystemCPUs: plain('string'),
  showHiddenMetricsForVersion: plain('string'),
  systemReservedCgroup: plain('string'),
  kubeReservedCgroup: plain('string'),
  enforceNodeAllocatable: plain(strings, ['pods']),
  allowedUnsafeSysctls: plain(strings),
  volumePluginDir: plain('string', '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/'),
  providerID: plain('string'),
  kernelMemcgNotification: plain('bool'),
  logging,
  enableSystemLogHandler: pointer('bool', true),
  enableSystemLogQuery: pointer('bool', false),
  shutdownGracePeriod: plain('duration'),
  shutdownGracePeriodCriticalPods: plain('duration'),
  shutdownGracePeriodByPodPriority: plain({ list: { object: podPriorityGrace } }),
  crashLoopBackOff: object({ maxContainerRestartPeriod: optional('duration') }),
  reservedMemory: plain({ list: { object: memoryReservation } }),
  enableProfilingHandler: pointer('bool', true),
  enableDebugFlagsHandler: pointer('bool', true),
  seccompDefault: pointer('bool', false),
  memoryThrottlingFactor: pointer('float64', 0.9),
  registerWithTaints: plain({ list: { object: taint } }),
  registerNode: pointer('bool', true),
  tracing: optional({ object: { endpoint: optional('string'), samplingRatePerMillion: optional('int32') } }),
  localStorageCapacityIsolation: pointer('bool', true),
  containerRuntimeEndpoint: plain('string', 'unix:///run/containerd/containerd.sock'),
  imageServiceEndpoint: plain('string'),
  failCgroupV1: pointer('bool', false),
  userNamespaces: optional({ object: { idsPerPod: optional('int64') } }),
} as const;

/** The effective configuration: complete, defaulted, with durations and quantities as values of their own. */
export interface KubeletConfiguration extends ObjectValue<typeof kubeletFields> {}

export const configApiVersion = 'kubelet.config.k8s.io/v1beta1';
export const configKind = 'KubeletConfiguration';

/** The value of `evictionHard` if a configuration file is used that does not set it. */
export const defaultEvictionHard: Readonly<Record<string, string>> = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
};

/** Fields whose relative paths start from the folder of the configuration file. */
export const pathFields: readonly string[] = [
  'staticPodPath',
  'authentication.x509.clientCAFile',
  'tlsCertFile',
  'tlsPrivateKeyFile',
  'resolvConf',
  'volumePluginDir',
  'podLogsDir',
];
