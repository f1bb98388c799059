export { connectRegistration } from './connect-registration.ts';
export { PluginWatcher, type PluginWatcherDeps } from './plugin-watcher.ts';
export type { ConnectRegistration, PluginHandler, PluginInfo, Registration, RegistryFiles } from './ports.ts';
