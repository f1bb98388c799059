/** What users read when a pod is rejected or preempted: the texts of a Go kubelet, because tools search for them. */
export const admissionMessages = {
  nodeInfo: 'Kubelet cannot get node info.',
  osLabel: "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
  osField: "Failed to admit pod as the OS field doesn't match node OS",
  supplementalGroupsPolicy: 'SupplementalGroupsPolicy=Strict is not supported in this node',
  nodeAffinity: "node(s) didn't match Pod's node affinity/selector",
  nodeName: "node(s) didn't match the requested node name",
  nodePorts: "node(s) didn't have free ports for the requested pod ports",
  taintToleration: "node(s) had taints that the pod didn't tolerate",
  podLevelResources: 'PodLevelResources feature gate is disabled',
  podTooLarge: (maxBytes: number): string =>
    `Pod was rejected: its metadata and spec take more than ${maxBytes} bytes of memory; move what is long into ConfigMaps or volumes, or split the pod`,
  nodeShutdown: 'Pod was rejected as the node is shutting down.',
  preempted: 'Preempted in order to admit critical pod',
  preemptedDisruption: 'Pod was preempted by Kubelet to accommodate a critical pod.',
} as const;

/** The text of the checks that a scheduler makes as well; their name is the reason. */
export function predicateFailed(name: string, text: string): string {
  return `Predicate ${name} failed: ${text}`;
}
