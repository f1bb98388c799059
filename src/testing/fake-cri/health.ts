import { CgroupDriver, type RuntimeHandler } from '../../gen/cri/api.ts';
import type { HandlersFor } from './handlers.ts';

/** What the fake runtime says of itself; tests change the fields. */
export class FakeHealth {
  name = 'fake';
  version = '1.0.0';
  /** The protocol version it offers. */
  protocol = '0.1.0';
  runtimeReady = true;
  networkReady = true;
  cgroupDriver: CgroupDriver = CgroupDriver.CGROUPFS;
  /** What the agent told it last. */
  podCidr = '';
  readonly runtimeHandlers = new Set(['', 'runc']);
  /** Those of them that can give a pod users of its own. */
  readonly userNamespaceHandlers = new Set<string>();
  /** Whether its handlers can make mounts read-only all the way down. */
  recursiveReadOnlyMounts = true;
  /** Whether it keeps to what a pod says of the groups of its image, and tells as whom containers run. */
  supplementalGroupsPolicy = true;
}

export function healthHandlers(
  health: FakeHealth,
): HandlersFor<'version' | 'status' | 'updateRuntimeConfig' | 'runtimeConfig'> {
  const condition = (type: string, status: boolean) => ({
    type,
    status,
    reason: status ? '' : `${type}Not`,
    message: status ? '' : `the fake runtime has ${type} switched off`,
  });
  const handlerView = (name: string): RuntimeHandler => ({
    name,
    features: {
      recursiveReadOnlyMounts: health.recursiveReadOnlyMounts,
      userNamespaces: health.userNamespaceHandlers.has(name),
    },
  });
  return {
    version: () => ({
      version: health.protocol,
      runtimeName: health.name,
      runtimeVersion: health.version,
      runtimeApiVersion: 'v1',
    }),
    status: () => ({
      status: {
        conditions: [condition('RuntimeReady', health.runtimeReady), condition('NetworkReady', health.networkReady)],
      },
      info: {},
      runtimeHandlers: [...health.runtimeHandlers].map(handlerView),
      features: { supplementalGroupsPolicy: health.supplementalGroupsPolicy },
    }),
    updateRuntimeConfig({ runtimeConfig }) {
      health.podCidr = runtimeConfig?.networkConfig?.podCidr ?? '';
      return {};
    },
    runtimeConfig: () => ({ linux: { cgroupDriver: health.cgroupDriver } }),
  };
}
