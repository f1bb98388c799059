import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import type { Random } from '../../base/random.ts';
import type { Settings } from '../../config/index.ts';
import type { Cri } from '../../cri/index.ts';
import type { NodeAddress } from '../../gen/kubernetes/types.ts';
import type { ServerLimits } from '../../server/index.ts';
import { nothingHeld, PodResourcesServer } from '../../server/podresources/index.ts';
import type { LogSink } from '../../telemetry/index.ts';
import type { ApiAccess } from './api-connection.ts';
import { wireListeners } from './listeners.ts';
import type { PodMachine } from './pod-machine.ts';
import { accessOnceKnown, wireServerAccess, type ServerAccess } from './server-access.ts';
import { serverHandlers, type ServedParts, type ServerHandlersDeps } from './server-handlers.ts';

export interface ServerWiring {
  readonly settings: Settings;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: LogSink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cri: Cri;
  readonly pages: ServerHandlersDeps['pages'];
  /** What strangers may use up; the usual unless told. */
  readonly limits?: Partial<ServerLimits>;
}

export interface WiredServer {
  /** Ports that are open to everybody: health comes before all else. */
  readonly open: readonly Component[];
  /** Settles who is let in; throws when the configuration lets in nobody or needs an API server that is not there. */
  admit(api: ApiAccess | undefined, addresses: () => readonly NodeAddress[]): void;
  /** The secured port and the node's own socket, once there is something to show. */
  complete(parts: ServedParts): readonly Component[];
  /** The node may have other addresses now. */
  addressesChanged(): void;
}

/** All that the agent answers to others. */
export function wireServer(wiring: ServerWiring): WiredServer {
  const { settings, nodeName, clock, random, log, env, limits } = wiring;
  const metrics = wiring.pages.agent;
  let parts: ServedParts | undefined;
  let access: ServerAccess | undefined;
  const handlers = serverHandlers({ ...wiring, parts: () => parts });
  const control = accessOnceKnown(settings, env, () => access);
  const listeners = wireListeners({ clock, log, settings, env, metrics, handlers, access: control, limits });
  return {
    open: listeners.open,
    admit: (api, addresses) => {
      if (!settings.config.enableServer) return;
      const cluster = api && { ...api, addresses };
      access = wireServerAccess({ settings, nodeName, clock, random, log, metrics, cluster });
    },
    complete: (known) => {
      parts = known;
      return [
        ...known.stats.components,
        ...(access ? listeners.secure(access) : []),
        podResources(wiring, known.machine),
      ];
    },
    addressesChanged: () => access?.serving.addressesChanged?.(),
  };
}

function podResources({ settings, clock, log, pages }: ServerWiring, machine: PodMachine): Component {
  return new PodResourcesServer({
    clock,
    log,
    metrics: pages.agent,
    socket: join(settings.flags.rootDir, 'pod-resources', 'kubelet.sock'),
    pods: () => machine.desired.all().filter(({ uid }) => !machine.isOver(uid)),
    // Everything on the node is shared: nobody gives devices or CPUs away.
    books: nothingHeld,
    canGet: settings.featureGates.enabled('KubeletPodResourcesGet'),
  });
}
