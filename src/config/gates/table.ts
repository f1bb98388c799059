/**
 *  alpha ──> beta ──> ga ──> (gone)
 *    └─────────┴──> deprecated ──> (gone)
 *
 * `other` marks gates of other programs: known, so that one list of gates serves a whole cluster, but without effect here.
 */
export type GateStage = 'alpha' | 'beta' | 'ga' | 'deprecated' | 'other';

export interface GateSpec {
  readonly stage: GateStage;
  readonly default: boolean;
  /** The value cannot be changed any more. */
  readonly locked: boolean;
}

const alpha: GateSpec = { stage: 'alpha', default: false, locked: false };
const betaOn: GateSpec = { stage: 'beta', default: true, locked: false };
const betaOff: GateSpec = { stage: 'beta', default: false, locked: false };
const ga: GateSpec = { stage: 'ga', default: true, locked: false };
const locked: GateSpec = { stage: 'ga', default: true, locked: true };
const agedOn: GateSpec = { stage: 'deprecated', default: true, locked: false };
const agedOff: GateSpec = { stage: 'deprecated', default: false, locked: false };

/** The gates that the agent of 1.34 reads, or whose meaning it relies on. */
export const agentGates = {
  AllowOverwriteTerminationGracePeriodSeconds: agedOff,
  AllowParsingUserUIDFromCertAuth: betaOn,
  AnyVolumeDataSource: locked,
  AuthorizeNodeWithSelectors: locked,
  CPUManagerPolicyAlphaOptions: alpha,
  CPUManagerPolicyBetaOptions: betaOn,
  CPUManagerPolicyOptions: locked,
  CSIMigrationPortworx: locked,
  CSIVolumeHealth: alpha,
  ClientsAllowCBOR: alpha,
  ClientsPreferCBOR: alpha,
  ClusterTrustBundle: betaOff,
  ClusterTrustBundleProjection: betaOff,
  ComponentFlagz: alpha,
  ComponentSLIs: locked,
  ComponentStatusz: alpha,
  ContainerCheckpoint: betaOn,
  ContainerRestartRules: alpha,
  ContainerStopSignals: alpha,
  ContextualLogging: betaOn,
  CustomCPUCFSQuotaPeriod: alpha,
  DRADeviceTaints: alpha,
  DRAExtendedResource: alpha,
  DRAResourceClaimDeviceStatus: betaOn,
  DisableCPUQuotaWithExclusiveCPUs: betaOn,
  DisableNodeKubeProxyVersion: agedOn,
  DynamicResourceAllocation: ga,
  EnvFiles: alpha,
  EventedPLEG: alpha,
  ExecProbeTimeout: ga,
  GitRepoVolumeDriver: agedOff,
  GracefulNodeShutdown: betaOn,
  GracefulNodeShutdownBasedOnPodPriority: betaOn,
  HostnameOverride: alpha,
  ImageMaximumGCAge: betaOn,
  ImageVolume: betaOff,
  InOrderInformers: betaOn,
  InPlacePodVerticalScaling: betaOn,
  InPlacePodVerticalScalingAllocatedStatus: agedOff,
  InPlacePodVerticalScalingExclusiveCPUs: alpha,
  InPlacePodVerticalScalingExclusiveMemory: alpha,
  InTreePluginPortworxUnregister: alpha,
  InformerResourceVersion: alpha,
  KubeletCgroupDriverFromCRI: locked,
  KubeletCrashLoopBackOffMax: alpha,
  KubeletEnsureSecretPulledImages: alpha,
  KubeletFineGrainedAuthz: betaOn,
  KubeletInUserNamespace: alpha,
  KubeletPSI: betaOn,
  KubeletPodResourcesDynamicResources: betaOn,
  KubeletPodResourcesGet: betaOn,
  KubeletPodResourcesListUseActivePods: agedOn,
  KubeletRegistrationGetOnExistsOnly: agedOff,
  KubeletSeparateDiskGC: betaOn,
  KubeletServiceAccountTokenForCredentialProviders: betaOn,
  KubeletTracing: locked,
  LocalStorageCapacityIsolationFSQuotaMonitoring: betaOff,
  LoggingAlphaOptions: alpha,
  LoggingBetaOptions: betaOn,
  MemoryManager: locked,
  MemoryQoS: alpha,
  MutableCSINodeAllocatableCount: betaOff,
  NodeLogQuery: betaOff,
  NodeSwap: locked,
  PodAndContainerStatsFromCRI: alpha,
  PodCertificateRequest: alpha,
  PodLevelResources: betaOn,
  PodLifecycleSleepAction: locked,
  PodLifecycleSleepActionAllowZero: locked,
  PodLogsQuerySplitStreams: alpha,
  PodObservedGenerationTracking: betaOn,
  PodReadyToStartContainersCondition: betaOn,
  PreventStaticPodAPIReferences: betaOn,
  ProcMountType: betaOn,
  QOSReserved: alpha,
  RecoverVolumeExpansionFailure: locked,
  RecursiveReadOnlyMounts: locked,
  ReduceDefaultCrashLoopBackOffDecay: alpha,
  RelaxedDNSSearchValidation: locked,
  RelaxedEnvironmentVariableValidation: locked,
  ReloadKubeletServerCertificateFile: betaOn,
  ResourceHealthStatus: alpha,
  RotateKubeletServerCertificate: betaOn,
  RuntimeClassInImageCriApi: alpha,
  SELinuxChangePolicy: betaOn,
  SELinuxMount: betaOff,
  SELinuxMountReadWriteOncePod: betaOn,
  ServiceAccountTokenNodeBinding: locked,
  SidecarContainers: locked,
  SizeMemoryBackedVolumes: locked,
  SupplementalGroupsPolicy: betaOn,
  SystemdWatchdog: betaOn,
  TopologyManagerPolicyAlphaOptions: alpha,
  TopologyManagerPolicyBetaOptions: betaOn,
  TopologyManagerPolicyOptions: ga,
  TranslateStreamCloseWebsocketRequests: betaOn,
  UserNamespacesPodSecurityStandards: alpha,
  UserNamespacesSupport: betaOn,
  VolumeAttributesClass: ga,
  WatchListClient: betaOff,
  WindowsCPUAndMemoryAffinity: alpha,
  WindowsGracefulNodeShutdown: betaOn,
} as const satisfies Readonly<Record<string, GateSpec>>;

export type GateName = keyof typeof agentGates;
