import type { Calls } from '../../base/calls.ts';
import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import type { Heartbeats } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Random } from '../../base/random.ts';
import { unixChannels } from '../../grpc/index.ts';
import { connectRegistration, PluginWatcher, registryFiles } from '../../plugins/index.ts';
import { CsiDrivers, type DriverRecord } from '../../volumes/csi/index.ts';

export interface StorageDriversWiring {
  readonly clock: Clock;
  readonly random: Random;
  readonly heartbeats: Heartbeats;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly rootDir: string;
  readonly calls: Calls;
  /** Where the cluster learns which drivers the node has; undefined where there is no cluster. */
  readonly record: DriverRecord | undefined;
  /** A driver came or went. */
  readonly onChange: (name: string) => void;
}

export interface StorageDrivers {
  readonly drivers: CsiDrivers;
  /** Finds plugins by their sockets; to be started when whoever works with them is there. */
  readonly watcher: Component;
}

/** The storage drivers that announce themselves on this node. */
export function wireStorageDrivers(wiring: StorageDriversWiring): StorageDrivers {
  const { clock, random, log, heartbeats, metrics, rootDir, record, calls, onChange } = wiring;
  const open = unixChannels(clock);
  const drivers = new CsiDrivers({ clock, log, metrics, open, calls, record, onChange });
  const plugins = new PluginWatcher({
    clock,
    random,
    log,
    heartbeats,
    metrics,
    files: registryFiles,
    connect: connectRegistration(open),
    path: `${rootDir}/plugins_registry`,
    handlers: { CSIPlugin: drivers },
  });
  const watcher: Component = {
    name: plugins.name,
    start: () => plugins.start(),
    stop: async () => {
      await plugins.stop();
      drivers.close();
    },
  };
  return { drivers, watcher };
}
