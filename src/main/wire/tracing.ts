import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import type { Log } from '../../base/log.ts';
import { systemRandom } from '../../base/system-random.ts';
import type { Tracer } from '../../base/tracing.ts';
import type { Settings } from '../../config/index.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { PodSyncer } from '../../pods/worker/index.ts';

export interface Tracing {
  readonly tracer: Tracer;
  readonly component: Component;
}

/** Tracing, where the configuration asks for it; otherwise nothing of it is loaded. */
export async function wireTracing(
  settings: Settings,
  nodeName: string,
  clock: Clock,
  log: Log,
): Promise<Tracing | undefined> {
  const { tracing } = settings.config;
  if (tracing === undefined || !settings.featureGates.enabled('KubeletTracing')) return undefined;
  const { defaultCollector, grpcCollector, SpanExporter, SpanTracer } =
    await import('../../telemetry/tracing/index.ts');
  const endpoint = tracing.endpoint ?? defaultCollector;
  const exporter = new SpanExporter({
    clock,
    log,
    collector: grpcCollector(endpoint, clock),
    resource: {
      'service.name': 'kubelet',
      'service.version': settings.version,
      'host.name': nodeName,
      'k8s.node.name': nodeName,
    },
  });
  const tracer = new SpanTracer({
    clock,
    random: systemRandom(),
    perMillion: tracing.samplingRatePerMillion ?? 0,
    onEnd: (span) => exporter.add(span),
  });
  log.info('Tracing', { endpoint, samplingRatePerMillion: tracing.samplingRatePerMillion ?? 0 });
  return { tracer, component: exporter };
}

/** The four operations on a pod as spans; calls of the runtime and the API server inside become their children. */
export function tracedSyncer(syncer: PodSyncer, tracer: Tracer): PodSyncer {
  const about = ({ uid, name, namespace }: Pick<DesiredPod, 'uid' | 'name' | 'namespace'>) => ({
    attributes: {
      'k8s.pod.uid': uid,
      'k8s.pod.name': name,
      'k8s.namespace.name': namespace,
      'k8s.pod': `${namespace}/${name}`,
    },
  });
  return {
    sync: (pod, signal) => tracer.span('syncPod', about(pod), () => syncer.sync(pod, signal)),
    terminate: (pod, how, signal) =>
      tracer.span('syncTerminatingPod', about(pod), () => syncer.terminate(pod, how, signal)),
    terminateOrphan: (orphan, graceSeconds, signal) =>
      tracer.span('syncTerminatingRuntimePod', about(orphan), () =>
        syncer.terminateOrphan(orphan, graceSeconds, signal),
      ),
    release: (target, signal) =>
      tracer.span('syncTerminatedPod', about(target.kind === 'desired' ? target.pod : target), () =>
        syncer.release(target, signal),
      ),
  };
}
