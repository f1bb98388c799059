import type { RegistrationStatus } from '../gen/pluginregistration/v1.ts';

/** What a plugin says of itself. */
export interface PluginInfo {
  /** CSIPlugin, DevicePlugin or DRAPlugin. */
  readonly type: string;
  readonly name: string;
  /** The socket where the plugin itself is served. */
  readonly endpoint: string;
  readonly supportedVersions: readonly string[];
}

/** Who works with the plugins of one type. What it refuses, it refuses by throwing; the plugin is told why. */
export interface PluginHandler {
  /** Looks at what the plugin says, and touches nothing. */
  validate(plugin: PluginInfo): Promise<void>;
  /**
   * Takes the plugin on. Heeds the signal, which aborts when the socket is gone; when it throws, nothing of the plugin is
   * left behind.
   */
  register(plugin: PluginInfo, socketPath: string, signal: AbortSignal): Promise<void>;
  /** The plugin is gone, or about to be registered anew. */
  deregister(name: string, endpoint: string): Promise<void>;
}

/** One plugin's registration socket. */
export interface Registration {
  info(signal: AbortSignal): Promise<PluginInfo>;
  notify(status: RegistrationStatus, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Resolves when the socket is connected; tries until the signal aborts. */
export type ConnectRegistration = (socketPath: string, signal: AbortSignal) => Promise<Registration>;

interface RegistryEntry {
  readonly name: string;
  readonly kind: 'folder' | 'socket';
}

/** The folder of registration sockets. Failures are TubeletErrors; `notFound` means what it says. */
export interface RegistryFiles {
  /** Makes a folder and those above it, where they are not there. */
  makeFolder(path: string): Promise<void>;
  /** Folders and sockets in a folder, nothing else; links lead to sockets, not to folders. */
  list(path: string): Promise<readonly RegistryEntry[]>;
  /** Changes when another file or folder takes over the path. */
  identify(path: string): Promise<string>;
  /** Hints that something changed in a folder. Throws when it cannot be watched. The returned function ends the watch. */
  watch(path: string, onChange: () => void, onError: (error: unknown) => void): () => void;
}
