import type { Clock } from '../base/clock.ts';
import type { Component } from '../base/component.ts';
import type { Heartbeats, Round } from '../base/heartbeats.ts';
import type { Log } from '../base/log.ts';
import { superviseLoop, type LoopHandle } from '../base/loop.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Random } from '../base/random.ts';
import { Wakeup } from '../base/wakeup.ts';
import { PluginSocket } from './plugin-socket.ts';
import type { ConnectRegistration, PluginHandler, RegistryFiles } from './ports.ts';
import { RegistryFolders } from './registry-folders.ts';

interface PluginWatcherDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly metrics: Metrics;
  readonly files: RegistryFiles;
  readonly connect: ConnectRegistration;
  /** `<root>/plugins_registry` */
  readonly path: string;
  /** By type: CSIPlugin, DevicePlugin, DRAPlugin. */
  readonly handlers: Readonly<Record<string, PluginHandler>>;
}

/** A new socket causes several events: this gathers them into one scan. */
const gatherMs = 10;
/** Between scans without an event. */
const rescanMs = 10_000;

/** Finds the sockets of plugins, and has each plugin registered and deregistered with its socket. */
export class PluginWatcher implements Component {
  readonly name = 'plugin-watcher';
  readonly #deps: PluginWatcherDeps;
  readonly #folders: RegistryFolders;
  readonly #sockets = new Map<string, PluginSocket>();
  readonly #stopped = new AbortController();
  readonly #wakeup = new Wakeup();
  #changed = false;
  #loop: LoopHandle | undefined;

  constructor(deps: PluginWatcherDeps) {
    this.#deps = deps;
    const { files, log, path } = deps;
    this.#folders = new RegistryFolders({ files, log, path, onChange: () => this.#markChanged() });
    countPlugins(deps.metrics, this.#sockets);
  }

  /** Returns after the first scan; the plugins that it found register in the background. */
  async start(): Promise<void> {
    const { clock, random, log, heartbeats } = this.#deps;
    await this.#reconcile();
    const { signal } = this.#stopped;
    this.#loop = superviseLoop({
      name: this.name,
      heartbeats,
      clock,
      random,
      log,
      signal,
      body: (stop, round) => this.#round(stop, round),
    });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop?.done;
    this.#folders.close();
    await Promise.all([...this.#sockets.values()].map((socket) => socket.stop()));
  }

  async #round(signal: AbortSignal, round: Round): Promise<void> {
    await round.waitFor(this.#pause(signal));
    await this.#reconcile();
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    if (!this.#changed) {
      const cancel = clock.after(rescanMs, () => this.#wakeup.wake());
      try {
        await this.#wakeup.wait(signal);
      } finally {
        cancel();
      }
    }
    if (this.#changed) await clock.sleep(gatherMs, signal);
  }

  async #reconcile(): Promise<void> {
    this.#changed = false;
    const { sockets, unread } = await this.#folders.scan();
    if (this.#stopped.signal.aborted) return;
    for (const [path, socket] of this.#sockets) {
      const unknown = unread.some((blind) => path === blind || path.startsWith(`${blind}/`));
      if (!sockets.has(path) && !unknown) socket.setFile(undefined);
    }
    for (const [path, identity] of sockets) this.#socket(path).setFile(identity);
  }

  #socket(path: string): PluginSocket {
    const known = this.#sockets.get(path);
    if (known !== undefined) return known;
    const { clock, log, handlers, connect } = this.#deps;
    const onRemoved = (removed: string): void => void this.#sockets.delete(removed);
    const made = new PluginSocket({ clock, log, handlers, connect, onRemoved }, path);
    this.#sockets.set(path, made);
    return made;
  }

  #markChanged(): void {
    this.#changed = true;
    this.#wakeup.wake();
  }
}

function countPlugins(metrics: Metrics, sockets: ReadonlyMap<string, PluginSocket>): void {
  const reading = (path: string, state: string) => ({ labels: { socket_path: path, state }, value: 1 });
  metrics.observed(
    {
      name: 'plugin_manager_total_plugins',
      help: 'Plugins whose sockets are there, and those that are registered.',
      stability: 'ALPHA',
      type: 'gauge',
      labels: ['socket_path', 'state'],
    },
    () =>
      [...sockets].flatMap(([path, { isWanted, isRegistered }]) => [
        ...(isRegistered ? [reading(path, 'actual_state_of_world')] : []),
        ...(isWanted ? [reading(path, 'desired_state_of_world')] : []),
      ]),
  );
}
