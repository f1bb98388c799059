import { createObjects, type Objects } from '../../objects/create-objects.ts';
import type { PodObjects } from '../../pods/create-parts.ts';
import type { AgentContext } from './create-context.ts';
import { objectsOfPods } from './pod-objects.ts';
import { reflectOn } from './reflect.ts';

/** Objects that pods refer to. */
export interface AgentObjects extends Objects {
  /** The same objects, with services and runtime classes, in the form in which pods ask for them. */
  readonly ofPods: PodObjects;
}

/** `signal` ends with the life of the agent, and with it all mirrors of objects. */
export function createAgentObjects({ settings, facts, api }: AgentContext, signal: AbortSignal): AgentObjects {
  const { ports, signals, nodeName } = facts;
  const objects = createObjects({
    ports,
    settings: {
      changeDetectionStrategy: settings.config.configMapAndSecretChangeDetectionStrategy,
      clusterTrustBundles: settings.featureGates.all['ClusterTrustBundleProjection'] === true,
    },
    inbox: signals.inbox,
    podRemoval: signals.podRemoval,
    api: api && {
      client: api.client,
      reflect: reflectOn({ ...ports, api: api.client, signal }),
      node: { node: () => api.mirrors.node.get({ name: nodeName }) },
    },
  });
  return { ...objects, ofPods: objectsOfPods(objects, api?.mirrors) };
}
