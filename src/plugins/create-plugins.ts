import type { CommonPorts } from '../model/common-ports.ts';
import type { Component } from '../base/component.ts';
import type { OpenRpc } from '../base/rpc.ts';
import { connectRegistration, PluginWatcher, type PluginHandler, type RegistryFiles } from './index.ts';

export interface PluginsWiring {
  readonly ports: CommonPorts;
  readonly settings: {
    /** The agent's own folder: plugins make their sockets below it. */
    readonly rootDir: string;
  };
  readonly files: RegistryFiles;
  readonly open: OpenRpc;
  /** By type: CSIPlugin, DevicePlugin, DRAPlugin. */
  readonly handlers: Readonly<Record<string, PluginHandler>>;
}

interface Plugins {
  /** To be started after the handlers of plugins. */
  readonly components: readonly Component[];
}

/** Finds and registers plugins by their sockets. */
export function createPlugins({ ports, settings, files, open, handlers }: PluginsWiring): Plugins {
  const path = `${settings.rootDir}/plugins_registry`;
  const watcher = new PluginWatcher({ ...ports, files, connect: connectRegistration(open), path, handlers });
  return { components: [watcher] };
}
