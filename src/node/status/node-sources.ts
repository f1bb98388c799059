import type { NodeConditions } from '../node-conditions.ts';
import type { NodeHost, RuntimeReader } from '../ports.ts';
import type { NodeSources } from './gather-inputs.ts';
import type { NodeDevices, RuntimeHandlerInfo } from './setter.ts';

/** What is known of the runtime's health. */
export interface RuntimeFactsView {
  runtimeErrors(): readonly string[];
  networkError(): string | undefined;
  /** The ways of running a sandbox that the runtime announces by name. */
  handlers(): ReadonlySet<string>;
  handlerFeatures(name: string): Omit<RuntimeHandlerInfo, 'name'> | undefined;
  features(): { readonly supplementalGroupsPolicy: boolean };
}

/** What is wrong with the agent's own view of the runtime, in its words; undefined while nothing is. */
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
  /** Whether the node says which ways of running a sandbox its runtime has. */
  readonly announcesHandlers: boolean;
}

/** Whom the status of this node is learnt from. */
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

/** Why no pod should come here: of the runtime, of what is seen of it, of the network, of the storage. */
export function notReadyReasons({
  health,
  pleg,
  storage,
}: Pick<NodeSourcesDeps, 'health' | 'pleg' | 'storage'>): readonly string[] {
  const unseen = pleg.unhealthy();
  return [
    ...health.runtimeErrors(),
    ...(unseen === undefined ? [] : [`PLEG is not healthy: ${unseen}`]),
    ...[health.networkError(), storage.problem()].filter((reason) => reason !== undefined),
  ];
}

/** The runtime's default, which has no name, and those with one; of which nothing is known are left out. */
export function announcedHandlers(
  health: Pick<RuntimeFactsView, 'handlers' | 'handlerFeatures'>,
): readonly RuntimeHandlerInfo[] {
  return ['', ...health.handlers()].flatMap((name) => {
    const features = health.handlerFeatures(name);
    return features ? [{ name, ...features }] : [];
  });
}
