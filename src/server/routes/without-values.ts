import { mask } from '../../base/masked.ts';
import type { Container, LifecycleHandler, Pod, PodSpec, Probe } from '../../gen/kubernetes/types.ts';

/** What `kubectl apply` keeps of a whole manifest, values included. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** A pod as unauthenticated clients may see it: masks stand for values of variables and of headers. */
export function withoutValues(pod: Pod): Pod {
  const { metadata, spec } = pod;
  const { annotations } = metadata ?? {};
  const hidden = annotations !== undefined && Object.hasOwn(annotations, lastApplied);
  return {
    ...pod,
    ...(hidden && { metadata: { ...metadata, annotations: { ...annotations, [lastApplied]: mask } } }),
    ...(spec && { spec: maskSpec(spec) }),
  };
}

function maskSpec(spec: PodSpec): PodSpec {
  const { containers, initContainers, ephemeralContainers } = spec;
  return {
    ...spec,
    containers: containers.map(maskContainer),
    ...(initContainers && { initContainers: initContainers.map(maskContainer) }),
    ...(ephemeralContainers && { ephemeralContainers: ephemeralContainers.map(maskContainer) }),
  };
}

type Maskable = Pick<Container, 'env' | 'lifecycle' | 'livenessProbe' | 'readinessProbe' | 'startupProbe'>;

function maskContainer<Kind extends Maskable>(container: Kind): Kind {
  const { env, lifecycle, livenessProbe, readinessProbe, startupProbe } = container;
  const { postStart, preStop } = lifecycle ?? {};
  return {
    ...container,
    ...(env && { env: env.map((variable) => (variable.value ? { ...variable, value: mask } : variable)) }),
    ...(lifecycle && {
      lifecycle: {
        ...lifecycle,
        ...(postStart && { postStart: maskHeaders(postStart) }),
        ...(preStop && { preStop: maskHeaders(preStop) }),
      },
    }),
    ...(livenessProbe && { livenessProbe: maskHeaders(livenessProbe) }),
    ...(readinessProbe && { readinessProbe: maskHeaders(readinessProbe) }),
    ...(startupProbe && { startupProbe: maskHeaders(startupProbe) }),
  };
}

function maskHeaders<Kind extends Probe | LifecycleHandler>(handler: Kind): Kind {
  const { httpGet } = handler;
  if (httpGet?.httpHeaders === undefined) return handler;
  const httpHeaders = httpGet.httpHeaders.map((header) => ({ ...header, value: mask }));
  return { ...handler, httpGet: { ...httpGet, httpHeaders } };
}
