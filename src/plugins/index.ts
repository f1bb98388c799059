export { connectRegistration } from './connect-registration.ts';
export { PluginWatcher } from './plugin-watcher.ts';
export type { PluginHandler, RegistryFiles } from './ports.ts';
