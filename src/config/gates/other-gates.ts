/** Gates of other programs that are on by default. */
const on = `
  APIResponseCompression APIServerIdentity APIServerTracing AggregatedDiscoveryRemoveBetaType
  AnonymousAuthConfigurableEndpoints AuthorizeWithSelectors BtreeWatchCache CRDValidationRatcheting
  ConsistentListFromCache CronJobsScheduledAnnotation CustomResourceFieldSelectors DRAAdminAccess
  DRAPrioritizedList DRASchedulerFilterTimeout DeclarativeValidation DetectCacheInconsistency
  DisableAllocatorDualWrite ExternalServiceAccountTokenSigner HonorPVReclaimPolicy JobBackoffLimitPerIndex
  JobManagedBy JobPodReplacementPolicy JobSuccessPolicy ListFromCacheSnapshot LoadBalancerIPMode
  LogarithmicScaleDown MatchLabelKeysInPodAffinity MatchLabelKeysInPodTopologySpread
  MatchLabelKeysInPodTopologySpreadSelectorMerge MultiCIDRServiceAllocator NFTablesProxyMode
  NodeInclusionPolicyInPodTopologySpread OpenAPIEnums OrderedNamespaceDeletion PodDeletionCost PodIndexLabel
  PodSchedulingReadiness PortForwardWebsockets PreferSameTrafficDistribution ProbeHostPodSecurityStandards
  RemoteRequestHeaderUID ResilientWatchCacheInitialization RetryGenerateName SchedulerAsyncPreemption
  SchedulerPopFromBackoffQ SchedulerQueueingHints SeparateTaintEvictionController
  ServiceAccountNodeAudienceRestriction ServiceAccountTokenJTI ServiceAccountTokenNodeBindingValidation
  ServiceAccountTokenPodNodeInfo ServiceTrafficDistribution SizeBasedListCostEstimate
  StatefulSetAutoDeletePVC StatefulSetSemanticRevisionComparison StorageNamespaceIndex StorageVersionHash
  StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf StrictCostEnforcementForVAP
  StrictCostEnforcementForWebhooks StructuredAuthenticationConfiguration
  StructuredAuthenticationConfigurationEgressSelector StructuredAuthorizationConfiguration
  TokenRequestServiceAccountUIDValidation TopologyAwareHints UnauthenticatedHTTP2DOSMitigation WatchList
  WinDSR WinOverlay
`;

/** Gates of other programs that are off by default. */
const off = `
  APIServingWithRoutine AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests
  AllowServiceLBStatusOnNonLB AllowUnsafeMalformedObjectDeletion CBORServingAndStorage
  ClearingNominatedNodeNameAfterBinding CloudControllerManagerWebhook ConcurrentWatchObjectDecode
  CoordinatedLeaderElection CrossNamespaceVolumeDataSource DRAConsumableCapacity DRADeviceBindingConditions
  DRAPartitionableDevices DeclarativeValidationTakeover DeploymentReplicaSetTerminatingReplicas
  HPAConfigurableTolerance HPAScaleToZero KMSv1 MaxUnavailableStatefulSet MutatingAdmissionPolicy
  NominatedNodeNameForExpectation PodTopologyLabelsAdmission RelaxedServiceNameValidation
  SchedulerAsyncAPICalls SeparateCacheWatchRPC StorageCapacityScoring StorageVersionAPI
  StorageVersionMigrator StrictIPCIDRValidation UnknownVersionInteroperabilityProxy
  WatchCacheInitializationPostStartHook WatchFromStorageWithoutResourceVersion WindowsHostNetwork
`;

const names = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Names that must be accepted although no code here depends on them, with their defaults. */
export const otherGates: ReadonlyMap<string, boolean> = new Map([
  ...names(on).map((name) => [name, true] as const),
  ...names(off).map((name) => [name, false] as const),
]);
