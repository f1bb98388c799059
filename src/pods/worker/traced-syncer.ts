import type { Tracer } from '../../base/tracing.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { PodSyncer } from './ports.ts';

/** The four operations on a pod as spans, where there is a tracer; calls inside become their children. */
export function tracedSyncer(syncer: PodSyncer, tracer: Tracer | undefined): PodSyncer {
  if (tracer === undefined) return syncer;
  const about = ({ uid, name, namespace }: Pick<DesiredPod, 'uid' | 'name' | 'namespace'>) => ({
    attributes: {
      'k8s.pod.uid': uid,
      'k8s.pod.name': name,
      'k8s.namespace.name': namespace,
      'k8s.pod': `${namespace}/${name}`,
    },
  });
  return {
    syncPod: (pod, signal) => tracer.span('syncPod', about(pod), () => syncer.syncPod(pod, signal)),
    syncTerminatingPod: (pod, how, signal) =>
      tracer.span('syncTerminatingPod', about(pod), () => syncer.syncTerminatingPod(pod, how, signal)),
    syncTerminatingRuntimePod: (orphan, graceSeconds, signal) =>
      tracer.span('syncTerminatingRuntimePod', about(orphan), () =>
        syncer.syncTerminatingRuntimePod(orphan, graceSeconds, signal),
      ),
    syncTerminatedPod: (target, signal) =>
      tracer.span('syncTerminatedPod', about(target.kind === 'desired' ? target.pod : target), () =>
        syncer.syncTerminatedPod(target, signal),
      ),
  };
}
