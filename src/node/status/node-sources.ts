import type { NodeConditions } from '../node-conditions.ts';
import type { NodeHost, RuntimeReader } from '../ports.ts';
import type { NodeSources } from './gather-inputs.ts';
import type { NodeDevices, RuntimeHandlerInfo } from './setter.ts';

/** The runtime's health and features. */
export interface RuntimeFactsView {
  runtimeErrors(): readonly string[];
  networkError(): string | undefined;
  /** The ways of running a sandbox that the runtime announces by name. */
  handlers(): ReadonlySet<string>;
  handlerFeatures(name: string): Omit<RuntimeHandlerInfo, 'name'> | undefined;
  features(): { readonly supplementalGroupsPolicy: boolean };
}

/** Problems of the agent's own view of the runtime; undefined while it is healthy. */
export interface PlegHealth {
  unhealthy(): string | undefined;
}

export interface StorageReadiness {
  /** Why the node is not ready for storage; undefined when it is. */
  problem(): string | undefined;
}

export interface VolumesInUse {
  /** Volumes that a controller must not detach from this node; undefined before that is known. */
  volumesInUse(): readonly string[] | undefined;
}

interface NodeSourcesDeps {
  readonly host: NodeHost;
  readonly runtime: RuntimeReader;
  readonly health: RuntimeFactsView;
  readonly pleg: PlegHealth;
  readonly storage: StorageReadiness;
  readonly volumes: VolumesInUse;
  readonly devices: NodeDevices;
  readonly conditions: NodeConditions;
  /** Whether the node lists the runtime handlers of its runtime. */
  readonly announcesHandlers: boolean;
}

/** The sources of this node's status. */
export function nodeSources(deps: NodeSourcesDeps): NodeSources {
  const { host, runtime, health, volumes, devices, conditions } = deps;
  return {
    host,
    runtime,
    volumesInUse: () => volumes.volumesInUse(),
    devices: () => devices,
    pressure: () => conditions.pressure(),
    notReady: () => notReadyReasons(deps),
    handlers: () => (deps.announcesHandlers ? announcedHandlers(health) : []),
    features: () => (health.features().supplementalGroupsPolicy ? { supplementalGroupsPolicy: true } : undefined),
  };
}

/** Why no pod should come here: the runtime, the pleg, the network, the storage, a shutdown. */
export function notReadyReasons({
  health,
  pleg,
  storage,
  conditions,
}: Pick<NodeSourcesDeps, 'health' | 'pleg' | 'storage' | 'conditions'>): readonly string[] {
  const unseen = pleg.unhealthy();
  return [
    ...health.runtimeErrors(),
    ...(unseen === undefined ? [] : [`PLEG is not healthy: ${unseen}`]),
    ...[health.networkError(), storage.problem()].filter((reason) => reason !== undefined),
    ...(conditions.shuttingDown() ? ['node is shutting down'] : []),
  ];
}

/** The runtime's default handler, which has no name, and the named ones; those without known features are left out. */
export function announcedHandlers(
  health: Pick<RuntimeFactsView, 'handlers' | 'handlerFeatures'>,
): readonly RuntimeHandlerInfo[] {
  return ['', ...health.handlers()].flatMap((name) => {
    const features = health.handlerFeatures(name);
    return features ? [{ name, ...features }] : [];
  });
}
