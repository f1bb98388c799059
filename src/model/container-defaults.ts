import type {
  Container,
  ContainerPort,
  EnvVar,
  EphemeralContainer,
  HTTPGetAction,
  Lifecycle,
  LifecycleHandler,
  Probe,
} from '../gen/kubernetes/types.ts';

export function defaultContainer(container: Container): Container {
  return { ...container, ...defaultCommonFields(container) };
}

export function defaultEphemeralContainer(container: EphemeralContainer): EphemeralContainer {
  return { ...container, ...defaultCommonFields(container) };
}

type Common = Omit<Container, 'name'>;

function defaultCommonFields(container: Container | EphemeralContainer): Common {
  const { ports, env, lifecycle, livenessProbe, readinessProbe, startupProbe } = container;
  return {
    imagePullPolicy: container.imagePullPolicy || defaultPullPolicy(container.image ?? ''),
    terminationMessagePath: container.terminationMessagePath || '/dev/termination-log',
    terminationMessagePolicy: container.terminationMessagePolicy || 'File',
    resources: container.resources ?? {},
    ...(ports !== undefined && { ports: ports.map(defaultPort) }),
    ...(env !== undefined && { env: env.map(defaultEnv) }),
    ...(lifecycle !== undefined && { lifecycle: defaultLifecycle(lifecycle) }),
    ...(livenessProbe !== undefined && { livenessProbe: defaultProbe(livenessProbe) }),
    ...(readinessProbe !== undefined && { readinessProbe: defaultProbe(readinessProbe) }),
    ...(startupProbe !== undefined && { startupProbe: defaultProbe(startupProbe) }),
  };
}

/** An image whose tag may move (`latest`) is checked at its registry at each start. */
export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  const hasDigest = image.includes('@');
  const name = hasDigest ? image.slice(0, image.indexOf('@')) : image;
  // A colon before the last slash belongs to the port of the registry.
  const colon = name.indexOf(':', name.lastIndexOf('/') + 1);
  const tag = colon < 0 ? undefined : name.slice(colon + 1);
  if (tag === 'latest') return 'Always';
  return tag === undefined && !hasDigest ? 'Always' : 'IfNotPresent';
}

function defaultPort(port: ContainerPort): ContainerPort {
  return { ...port, protocol: port.protocol || 'TCP' };
}

function defaultEnv(variable: EnvVar): EnvVar {
  const fieldRef = variable.valueFrom?.fieldRef;
  if (fieldRef === undefined) return variable;
  const valueFrom = { ...variable.valueFrom, fieldRef: { ...fieldRef, apiVersion: fieldRef.apiVersion || 'v1' } };
  return { ...variable, valueFrom };
}

/** Zero means "not set" in these fields, as everywhere in the API where the Go type is a plain number. */
function defaultProbe(probe: Probe): Probe {
  return {
    ...probe,
    timeoutSeconds: probe.timeoutSeconds || 1,
    periodSeconds: probe.periodSeconds || 10,
    successThreshold: probe.successThreshold || 1,
    failureThreshold: probe.failureThreshold || 3,
    ...(probe.httpGet !== undefined && { httpGet: defaultHttpGet(probe.httpGet) }),
    ...(probe.grpc !== undefined && { grpc: { ...probe.grpc, service: probe.grpc.service ?? '' } }),
  };
}

function defaultHttpGet(action: HTTPGetAction): HTTPGetAction {
  return { ...action, path: action.path || '/', scheme: action.scheme || 'HTTP' };
}

function defaultLifecycle(lifecycle: Lifecycle): Lifecycle {
  const { postStart, preStop } = lifecycle;
  return {
    ...lifecycle,
    ...(postStart !== undefined && { postStart: defaultHandler(postStart) }),
    ...(preStop !== undefined && { preStop: defaultHandler(preStop) }),
  };
}

function defaultHandler(handler: LifecycleHandler): LifecycleHandler {
  return handler.httpGet === undefined ? handler : { ...handler, httpGet: defaultHttpGet(handler.httpGet) };
}
