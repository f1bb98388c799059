const goRuntime =
  'The Go runtime is not here; what this program has instead is under tubelet_heap_, tubelet_gc_, tubelet_event_loop_.';
const apiServerLibrary = 'A leftover of the API server library in the Go kubelet; nothing there or here counts on it.';
const cpuManager = 'Containers are not given CPUs of their own yet.';
const memoryManager = 'Containers are not given memory nodes of their own yet.';
const topologyManager = 'Resources are not aligned to the topology of the machine yet.';
const devicePlugins = 'There are no device plugins yet.';
const resourceClaims = 'There is no dynamic resource allocation yet.';
const eviction = 'Pods are not evicted for want of resources yet.';
const imageCollection = 'Images that no container uses are not removed yet.';
const resize = 'Containers are not resized in place yet.';
const selinux =
  'Labels of volumes are not counted: storage drivers mount with them where they can, else the runtime relabels.';
const windows = 'Host process containers are of Windows.';
const forcedCleaning = 'Nothing is cleaned by force: what cannot be torn down is left, logged, and retried.';
const transports = 'There is one transport for each API server, and no cache of them.';

/**
 * Metrics of the Go kubelet that this agent does not have, and why. A name that ends in `*` stands for all that begin so.
 * A test compares this table, the registered metrics and the recorded page of a Go kubelet, so that no metric is missing
 * without a reason.
 */
export const absentMetrics: Readonly<Record<string, string>> = {
  'go_*': goRuntime,

  'aggregator_discovery_*': apiServerLibrary,
  'apiserver_audit_*': apiServerLibrary,
  'apiserver_envelope_encryption_*': apiServerLibrary,
  'apiserver_storage_*': apiServerLibrary,
  'apiserver_validation_*': apiServerLibrary,
  'apiserver_webhooks_*': apiServerLibrary,
  cardinality_enforcement_unexpected_categorizations_total:
    'There is no list of allowed label values: labels here have few values by construction.',

  'kubelet_cpu_manager_*': cpuManager,
  'kubelet_container_aligned_compute_resources_*': topologyManager,
  'kubelet_memory_manager_*': memoryManager,
  'kubelet_topology_manager_*': topologyManager,
  'kubelet_device_plugin_*': devicePlugins,
  'dra_*': resourceClaims,
  kubelet_eviction_stats_age_seconds: eviction,
  kubelet_image_garbage_collected_total: imageCollection,
  kubelet_container_requested_resizes_total: resize,
  kubelet_pod_resize_duration_milliseconds: resize,
  kubelet_pod_pending_resizes: resize,
  kubelet_pod_infeasible_resizes_total: resize,
  kubelet_pod_in_progress_resizes: resize,
  kubelet_pod_deferred_accepted_resizes_total: resize,
  'kubelet_started_host_process_containers_*': windows,

  'volume_manager_selinux_*': selinux,
  'force_cleaned_failed_volume_*': forcedCleaning,

  rest_client_transport_cache_entries: transports,
  rest_client_transport_create_calls_total: transports,
  rest_client_dns_resolution_duration_seconds:
    'Names are resolved as part of connecting; a slow resolver shows in rest_client_request_duration_seconds.',
};

/** Why a metric is not here; nothing where the table does not know it. */
export function reasonForAbsence(name: string): string | undefined {
  const row = Object.keys(absentMetrics).find((key) =>
    key.endsWith('*') ? name.startsWith(key.slice(0, -1)) : key === name,
  );
  return row === undefined ? undefined : absentMetrics[row];
}
