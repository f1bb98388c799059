import type { RegistrationStatus } from '../gen/pluginregistration/v1.ts';
import type { RegistryEntry } from '../model/file-facts.ts';

/** What a plugin announces of itself. */
export interface PluginInfo {
  /** CSIPlugin, DevicePlugin or DRAPlugin. */
  readonly type: string;
  readonly name: string;
  /** The socket where the plugin itself is served. */
  readonly endpoint: string;
  readonly supportedVersions: readonly string[];
}

/** Handles the plugins of one type. It refuses one by throwing; the plugin is notified of the error. */
export interface PluginHandler {
  /** Checks what the plugin announces, without side effects. */
  validate(plugin: PluginInfo): Promise<void>;
  /**
   * Registers the plugin. Ends with the signal, which aborts when the socket is removed; when it throws, nothing of the
   * plugin is left behind.
   */
  register(plugin: PluginInfo, socketPath: string, signal: AbortSignal): Promise<void>;
  /** The plugin's socket was removed, or replaced and is about to be registered anew. */
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

/** The folder of registration sockets. Failures are TubeletErrors, `notFound` for a path that does not exist. */
export interface RegistryFiles {
  /** Makes a folder and those above it, where they are not there. */
  makeFolder(path: string): Promise<void>;
  /** Folders and sockets in a folder, nothing else; links lead to sockets, not to folders. */
  list(path: string): Promise<readonly RegistryEntry[]>;
  /** Changes when another file or folder takes the path. */
  identify(path: string): Promise<string>;
  /** Hints that something changed in a folder. Throws when it cannot be watched. The returned function ends the watch. */
  watch(path: string, onChange: () => void, onError: (error: unknown) => void): () => void;
}
