import { join } from 'node:path';
import type { CommonPorts } from '../model/common-ports.ts';
import type { Component } from '../base/component.ts';
import { agentHandlers, type ServedViews } from './agent-handlers.ts';
import type { BootServerParts } from './create-boot-server.ts';
import type { ServerAccess } from './create-server-access.ts';
import type { ServingIdentity } from './listener/ports.ts';
import { SecureListener } from './listener/secure-listener.ts';
import { podResourcesMetrics, PodResourcesServer, type ResourceAllocations } from './podresources/index.ts';
import type { ActivePods, SocketFiles } from './ports.ts';
import { fullRoutes } from './served-routes.ts';
import type { ServerSettings } from './server-settings.ts';

export interface ServerPorts extends CommonPorts, Omit<ServedViews, 'pods'> {
  readonly boot: BootServerParts;
  /** Access control and certificates of the secured port; undefined: it is not opened. */
  readonly secured: SecuredPort | undefined;
  readonly pods: ServedViews['pods'] & ActivePods;
  readonly allocations: ResourceAllocations;
  /** Undefined on a machine without sockets: neither the secured port nor the node's own socket is opened. */
  readonly sockets: SocketFiles | undefined;
}

export interface SecuredPort {
  readonly access: ServerAccess;
  readonly serving: ServingIdentity & Component;
}

interface CreatedServer {
  /** In the order in which they start, after all that the handlers ask. */
  readonly components: readonly Component[];
}

/** The whole agent behind the ports that are open since boot, the secured port, and the node's own socket. */
export function createServer(settings: ServerSettings, ports: ServerPorts): CreatedServer {
  const { clock, log, metrics, boot, secured, pods, allocations, sockets } = ports;
  const { self, served } = boot;
  const handlers = agentHandlers({ clock, log, settings, self, views: ports });
  // On the page also where the socket is not.
  const requestMetrics = podResourcesMetrics(metrics);
  const podResources =
    sockets &&
    new PodResourcesServer({
      clock,
      log,
      metrics: requestMetrics,
      socket: join(settings.rootDir, 'pod-resources', 'kubelet.sock'),
      sockets,
      pods,
      allocations,
      canGet: settings.podResourcesGet,
    });
  return {
    components: [
      fullRoutes(served, handlers),
      ...(secured === undefined ? [] : securedPort(settings, ports, secured)),
      podResources,
    ].filter((component) => component !== undefined),
  };
}

function securedPort(
  { secure }: ServerSettings,
  { clock, log, boot, sockets }: ServerPorts,
  { access, serving }: SecuredPort,
): readonly Component[] {
  const { clientCertificates } = access;
  boot.access.setAccess(access);
  const authorities = clientCertificates === undefined ? [] : [clientCertificates];
  if (sockets === undefined) return authorities;
  const listener = new SecureListener({
    ...secure,
    pipeline: boot.pipeline,
    identity: serving,
    clientAuthorities: clientCertificates,
    clock,
    log,
  });
  return [...authorities, serving, listener];
}
