import type { Service } from '../gen/kubernetes/types.ts';

/** The fields of a service that its variables are made of, as in the API. */
export interface ServiceObject {
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
  readonly spec?: {
    readonly clusterIP?: string;
    readonly ports?: readonly ServicePortObject[];
  };
}

interface ServicePortObject {
  readonly name?: string;
  readonly port: number;
  readonly protocol?: string;
}

/** What is kept of a service: the node knows all services of the cluster, and their annotations may be long. */
export function boundedService(service: Service): Service {
  const { name, namespace, uid, resourceVersion } = service.metadata ?? {};
  const { clusterIP, ports } = service.spec ?? {};
  return {
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
    spec: { ...(clusterIP !== undefined && { clusterIP }), ...(ports !== undefined && { ports }) },
  };
}

/** The namespace whose `kubernetes` service every pod sees. */
const masterNamespace = 'default';
const masterServices: readonly string[] = ['kubernetes'];

/** The variables with the addresses of the services of a container's namespace, services in the order of their names. */
export function serviceEnvironment(
  services: readonly ServiceObject[],
  namespace: string,
  links: boolean,
): ReadonlyMap<string, string> {
  const visible = new Map<string, ServiceObject>();
  for (const service of services) {
    const name = service.metadata?.name ?? '';
    const master = service.metadata?.namespace === masterNamespace && masterServices.includes(name);
    const near = links && service.metadata?.namespace === namespace;
    // A service of the pod's namespace replaces one of the master namespace with the same name.
    if (hasAddress(service) && (near || (master && !visible.has(name)))) visible.set(name, service);
  }
  const variables = new Map<string, string>();
  for (const name of [...visible.keys()].sort()) {
    for (const [key, value] of variablesOf(name, visible.get(name))) variables.set(key, value);
  }
  return variables;
}

function hasAddress(service: ServiceObject): boolean {
  const address = service.spec?.clusterIP ?? '';
  return address !== '' && address !== 'None';
}

function variablesOf(name: string, service: ServiceObject | undefined): readonly (readonly [string, string])[] {
  const prefix = upper(name);
  const address = service?.spec?.clusterIP ?? '';
  const ports = service?.spec?.ports ?? [];
  const [first] = ports;
  const base: (readonly [string, string])[] = [[`${prefix}_SERVICE_HOST`, address]];
  if (first === undefined) return base;
  base.push([`${prefix}_SERVICE_PORT`, String(first.port)]);
  for (const port of ports) {
    if (port.name) base.push([`${prefix}_SERVICE_PORT_${upper(port.name)}`, String(port.port)]);
  }
  base.push([`${prefix}_PORT`, endpoint(address, first)]);
  for (const port of ports) {
    const protocol = port.protocol ?? 'TCP';
    const key = `${prefix}_PORT_${port.port}_${protocol.toUpperCase()}`;
    base.push([key, endpoint(address, port)]);
    base.push([`${key}_PROTO`, protocol.toLowerCase()]);
    base.push([`${key}_PORT`, String(port.port)]);
    base.push([`${key}_ADDR`, address]);
  }
  return base;
}

function endpoint(address: string, port: ServicePortObject): string {
  const host = address.includes(':') ? `[${address}]` : address;
  return `${(port.protocol ?? 'TCP').toLowerCase()}://${host}:${port.port}`;
}

function upper(name: string): string {
  return name.toUpperCase().replaceAll('-', '_');
}
