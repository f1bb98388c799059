/**
 * Every verb of CRI v1 with the name it has in metrics (`operation_type`). The event stream counts as a verb because it
 * is observed like one.
 */
export const operationTypes = {
  version: 'version',
  status: 'status',
  updateRuntimeConfig: 'update_runtime_config',
  runtimeConfig: 'runtime_config',
  runPodSandbox: 'run_podsandbox',
  stopPodSandbox: 'stop_podsandbox',
  removePodSandbox: 'remove_podsandbox',
  podSandboxStatus: 'podsandbox_status',
  listPodSandbox: 'list_podsandbox',
  updatePodSandboxResources: 'update_podsandbox_resources',
  createContainer: 'create_container',
  startContainer: 'start_container',
  stopContainer: 'stop_container',
  removeContainer: 'remove_container',
  listContainers: 'list_containers',
  containerStatus: 'container_status',
  updateContainerResources: 'update_container',
  reopenContainerLog: 'reopen_container_log',
  checkpointContainer: 'checkpoint_container',
  execSync: 'exec_sync',
  exec: 'exec',
  attach: 'attach',
  portForward: 'port_forward',
  containerStats: 'container_stats',
  listContainerStats: 'list_container_stats',
  podSandboxStats: 'podsandbox_stats',
  listPodSandboxStats: 'list_podsandbox_stats',
  listMetricDescriptors: 'list_metric_descriptors',
  listPodSandboxMetrics: 'list_podsandbox_metrics',
  listImages: 'list_images',
  imageStatus: 'image_status',
  pullImage: 'pull_image',
  removeImage: 'remove_image',
  imageFsInfo: 'image_fs_info',
  containerEvents: 'get_container_events',
} as const;

/** A verb as this agent spells it, the event stream included. */
export type CriVerb = keyof typeof operationTypes;
/** A verb of one question and one answer. */
export type UnaryVerb = Exclude<CriVerb, 'containerEvents'>;
