import type { Broadcaster } from '../base/broadcaster.ts';
import type { CommonPorts } from '../model/common-ports.ts';
import type { Component } from '../base/component.ts';
import type { OpenRpc } from '../base/rpc.ts';
import { CsiDrivers, type DriverRecord } from './csi/index.ts';

interface StorageDriversWiring {
  readonly ports: CommonPorts;
  /** Broadcast when a driver is registered or deregistered. */
  readonly signals: { readonly driverChanged: Pick<Broadcaster<string>, 'broadcast'> };
  readonly open: OpenRpc;
  /** Records the node's drivers in the cluster; `noDriverRecord` where there is none. */
  readonly record: DriverRecord;
}

export interface StorageDrivers {
  /** To be stopped after the plugin watcher. */
  readonly components: readonly Component[];
  readonly drivers: Pick<CsiDrivers, 'find' | 'get' | 'names' | 'refresh'>;
  /** Handles plugins of type CSIPlugin. */
  readonly handler: Pick<CsiDrivers, 'validate' | 'register' | 'deregister'>;
}

/** The storage drivers that register on this node. */
export function createStorageDrivers({ ports, signals, open, record }: StorageDriversWiring): StorageDrivers {
  const drivers = new CsiDrivers({ ...ports, open, record, changed: signals.driverChanged });
  return { components: [drivers], drivers, handler: drivers };
}
