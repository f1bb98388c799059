/**
 * Keys by which the agent finds its own sandboxes and containers in the runtime. They are read after a restart, also by
 * another kubelet, so they must not change.
 */
export const podNameLabel = 'io.kubernetes.pod.name';
export const podNamespaceLabel = 'io.kubernetes.pod.namespace';
export const podUidLabel = 'io.kubernetes.pod.uid';
export const containerNameLabel = 'io.kubernetes.container.name';

export const containerHashAnnotation = 'io.kubernetes.container.hash';
export const containerRestartCountAnnotation = 'io.kubernetes.container.restartCount';
export const containerTerminationMessagePathAnnotation = 'io.kubernetes.container.terminationMessagePath';
export const containerTerminationMessagePolicyAnnotation = 'io.kubernetes.container.terminationMessagePolicy';
export const containerPreStopHandlerAnnotation = 'io.kubernetes.container.preStopHandler';
export const containerPortsAnnotation = 'io.kubernetes.container.ports';
export const podDeletionGracePeriodAnnotation = 'io.kubernetes.pod.deletionGracePeriod';
export const podTerminationGracePeriodAnnotation = 'io.kubernetes.pod.terminationGracePeriod';

/** Before the AppArmor field existed, this annotation named the profile; the container's name follows the prefix. */
export const appArmorAnnotationPrefix = 'container.apparmor.security.beta.kubernetes.io/';

/** The labels of a pod's sandbox: the pod's own and those that identify the pod. */
export function sandboxLabels(
  pod: { readonly name: string; readonly namespace: string; readonly uid: string },
  ownLabels: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    ...ownLabels,
    [podNameLabel]: pod.name,
    [podNamespaceLabel]: pod.namespace,
    [podUidLabel]: pod.uid,
  };
}

export function containerLabels(
  pod: { readonly name: string; readonly namespace: string; readonly uid: string },
  containerName: string,
): Record<string, string> {
  return { ...sandboxLabels(pod), [containerNameLabel]: containerName };
}
