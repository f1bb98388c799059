import type { Component } from '../../base/component.ts';
import type { Tracer } from '../../base/tracing.ts';
import type { Settings } from '../../config/index.ts';
import type { CommonPorts } from '../../model/common-ports.ts';

export interface Tracing {
  readonly tracer: Tracer;
  readonly component: Component;
}

/** Tracing, if the configuration asks for it; otherwise its modules are not loaded. */
export async function createTracing(
  settings: Settings,
  nodeName: string,
  { clock, random, log }: Pick<CommonPorts, 'clock' | 'random' | 'log'>,
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
    random,
    perMillion: tracing.samplingRatePerMillion ?? 0,
    onEnd: (span) => exporter.add(span),
  });
  log.info('Tracing', { endpoint, samplingRatePerMillion: tracing.samplingRatePerMillion ?? 0 });
  return { tracer, component: exporter };
}
