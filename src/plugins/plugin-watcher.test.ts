import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heartbeats } from '../base/heartbeats.ts';
import { raceAbort } from '../base/abort.ts';
import { TubeletError } from '../base/errors.ts';
import type { RegistrationStatus } from '../gen/pluginregistration/v1.ts';
import { Registry } from '../telemetry/index.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { retryDelayMs } from './plugin-socket.ts';
import { PluginWatcher } from './plugin-watcher.ts';
import type { PluginHandler, PluginInfo, Registration, RegistryFiles } from './ports.ts';

const root = '/root/plugins_registry';
const forever = new Promise<never>(() => {});

/** A folder of sockets in memory, and the plugins behind them. */
class PluginWorld {
  readonly clock = new FakeClock();
  readonly log = new MemoryLog();
  readonly registry = new Registry();
  readonly events: string[] = [];
  readonly statuses: [string, RegistrationStatus][] = [];
  /** Path → identity, and what the plugin there says; `hangs` never answers. */
  readonly sockets = new Map<string, { readonly identity: string; info: Partial<PluginInfo> | 'hangs' | 'dead' }>();
  readonly folders = new Set([root]);
  readonly unreadable = new Set<string>();
  readonly watches = new Map<string, () => void>();
  watchable = true;
  register: (name: string, signal: AbortSignal) => Promise<void> = async () => {};
  validate: (name: string) => Promise<void> = async () => {};
  closed = 0;
  #identities = 0;

  readonly files: RegistryFiles = {
    makeFolder: async (path) => void this.folders.add(path),
    list: async (path) => {
      if (this.unreadable.has(path)) throw new TubeletError('denied', `${path} cannot be read`);
      const inside = (entry: string): boolean => entry.slice(0, entry.lastIndexOf('/')) === path;
      const name = (entry: string): string => entry.slice(path.length + 1);
      return [
        ...[...this.folders].filter(inside).map((entry) => ({ name: name(entry), kind: 'folder' as const })),
        ...[...this.sockets.keys()].filter(inside).map((entry) => ({ name: name(entry), kind: 'socket' as const })),
      ];
    },
    identify: async (path) => {
      if (this.folders.has(path)) return `folder ${path}`;
      const socket = this.sockets.get(path);
      if (socket === undefined) throw new TubeletError('notFound', path);
      return socket.identity;
    },
    watch: (path, onChange) => {
      if (!this.watchable) throw new TubeletError('exhausted', 'no more watches');
      this.watches.set(path, onChange);
      return () => void this.watches.delete(path);
    },
  };

  readonly handler: PluginHandler = {
    validate: async ({ name }) => this.validate(name),
    register: async ({ name, endpoint }, _socket, signal) => {
      this.events.push(`register ${name} at ${endpoint}`);
      await this.register(name, signal);
      this.events.push(`registered ${name}`);
    },
    deregister: async (name, endpoint) => void this.events.push(`deregister ${name} at ${endpoint}`),
  };

  readonly watcher = new PluginWatcher({
    heartbeats: new Heartbeats(),
    clock: this.clock,
    random: seededRandom(1),
    log: this.log,
    metrics: this.registry,
    files: this.files,
    connect: (path, signal) => this.#connect(path, signal),
    path: root,
    handlers: { CSIPlugin: this.handler },
  });

  /** A plugin makes its socket; the watch reports it. */
  put(name: string, info: Partial<PluginInfo> | 'hangs' | 'dead' = {}): void {
    this.sockets.set(`${root}/${name}`, { identity: `${++this.#identities}`, info });
    this.hint(name);
  }

  remove(name: string): void {
    this.sockets.delete(`${root}/${name}`);
    this.hint(name);
  }

  hint(name: string): void {
    const path = `${root}/${name}`;
    this.watches.get(path.slice(0, path.lastIndexOf('/')))?.();
  }

  taken(): readonly string[] {
    return this.events.splice(0);
  }

  async #connect(path: string, signal: AbortSignal): Promise<Registration> {
    const socket = this.sockets.get(path);
    if (socket === undefined || socket.info === 'dead') return raceAbort(forever, signal);
    const name = path.slice(root.length + 1);
    return {
      info: async (limit) => {
        const { info } = socket;
        if (typeof info === 'string') return raceAbort(forever, limit);
        return { type: 'CSIPlugin', name, endpoint: path, supportedVersions: ['1.0.0'], ...info };
      },
      notify: async (status) => void this.statuses.push([name, status]),
      close: () => void this.closed++,
    };
  }
}

const well: RegistrationStatus = { pluginRegistered: true, error: '' };

test('plugins come, go and come back with their sockets', async () => {
  const world = new PluginWorld();
  world.put('a.sock', { name: 'a', endpoint: '/a/csi.sock' });
  await world.watcher.start();
  await world.clock.settle();
  assert.deepEqual(world.taken(), ['register a at /a/csi.sock', 'registered a']);
  assert.deepEqual(world.statuses, [['a.sock', well]]);
  assert.equal(world.closed, 1);

  world.put('b.sock');
  await world.clock.advance(10);
  assert.deepEqual(world.taken(), [`register b.sock at ${root}/b.sock`, 'registered b.sock']);

  // Another socket in its place: a plugin that started anew.
  world.put('a.sock', { name: 'a', endpoint: '/a2/csi.sock' });
  await world.clock.advance(10);
  assert.deepEqual(world.taken(), ['deregister a at /a/csi.sock', 'register a at /a2/csi.sock', 'registered a']);

  world.remove('a.sock');
  await world.clock.advance(10);
  assert.deepEqual(world.taken(), ['deregister a at /a2/csi.sock']);
  await world.clock.advance(60_000);
  assert.deepEqual(world.taken(), []);
  await world.watcher.stop();
  assert.deepEqual(world.taken(), [], 'plugins outlive the agent');
  assert.equal(world.clock.pending(), 0);
  assert.equal(world.watches.size, 0);
});

test('in folders below too, but not behind a dot; without an event after ten seconds', async () => {
  const world = new PluginWorld();
  await world.watcher.start();
  world.watches.clear();
  world.folders.add(`${root}/deep`).add(`${root}/deep/er`).add(`${root}/.hidden`);
  world.put('deep/er/x.sock');
  world.put('.hidden/y.sock');
  world.put('.z.sock');
  await world.clock.advance(9_000);
  assert.deepEqual(world.taken(), []);
  await world.clock.advance(1_000);
  assert.deepEqual(world.taken(), [`register deep/er/x.sock at ${root}/deep/er/x.sock`, 'registered deep/er/x.sock']);
  await world.watcher.stop();

  const blind = new PluginWorld();
  blind.watchable = false;
  await blind.watcher.start();
  blind.put('a.sock');
  await blind.clock.advance(30_000);
  assert.equal(blind.taken().length, 2);
  assert.equal(blind.log.entries.filter(({ message }) => message.startsWith('Cannot watch')).length, 1);
  await blind.watcher.stop();
});

test('one that hangs, at any step, delays no other', async () => {
  const world = new PluginWorld();
  world.register = (name, signal) => (name === 'slow' ? raceAbort(forever, signal) : Promise.resolve());
  world.put('dead.sock', 'dead');
  world.put('mute.sock', 'hangs');
  world.put('slow.sock', { name: 'slow' });
  world.put('well.sock', { name: 'well' });
  await world.watcher.start();
  await world.clock.settle();
  assert.ok(world.taken().includes('registered well'));

  // The socket of the slow one goes: what was under way for it ends, and it may come back at once.
  world.put('slow.sock', { name: 'quick' });
  await world.clock.advance(10);
  assert.deepEqual(world.taken(), [`register quick at ${root}/slow.sock`, 'registered quick']);

  // The others have been aborted and retried; those that answer by then are registered.
  await world.clock.advance(30_000);
  assert.deepEqual(world.taken(), []);
  const mute = world.sockets.get(`${root}/mute.sock`);
  if (mute !== undefined) mute.info = { name: 'no longer mute' };
  await world.clock.advance(122_000);
  assert.ok(world.taken().includes('registered no longer mute'));
  await world.watcher.stop();
});

test('what is refused is notified why, and retried ever more slowly', async () => {
  const world = new PluginWorld();
  let refusals = 0;
  world.validate = async (name) => {
    if (name === 'bad' && ++refusals < 4) throw new TubeletError('invalid', `no such thing as ${name}`);
  };
  world.put('bad.sock', { name: 'bad' });
  world.put('odd.sock', { type: 'constructor' });
  await world.watcher.start();
  await world.clock.settle();
  const about = (socket: string) => world.statuses.filter(([name]) => name === socket).map(([, { error }]) => error);
  assert.deepEqual(about('bad.sock'), ['no such thing as bad']);
  assert.deepEqual(about('odd.sock'), ['no handler registered for plugin type "constructor" (known: CSIPlugin)']);
  await world.clock.advance(500 + 1_000 + 2_000);
  assert.deepEqual(about('bad.sock'), [...Array.from({ length: 3 }, () => 'no such thing as bad'), '']);
  assert.deepEqual(world.taken(), [`register bad at ${root}/bad.sock`, 'registered bad']);
  assert.equal(world.log.entries.filter(({ message }) => message === 'Plugin cannot be registered').length, 2);

  world.register = async () => {
    throw new TubeletError('unavailable', 'the driver is away');
  };
  world.put('late.sock', { name: 'late' });
  await world.clock.advance(10);
  assert.deepEqual(about('late.sock'), ['the driver is away']);
  assert.deepEqual(world.taken(), [`register late at ${root}/late.sock`], 'and nothing is deregistered for it');
  world.remove('late.sock');
  await world.clock.advance(200);
  assert.deepEqual(world.taken(), []);
  await world.watcher.stop();
});

test('retries: from half a second to two minutes and two seconds', () => {
  const waits = [1, 2, 3, 8, 9, 50].map(retryDelayMs);
  assert.deepEqual(waits, [500, 1_000, 2_000, 64_000, 122_000, 122_000]);
});

test('a folder that cannot be read keeps its plugins registered', async () => {
  const world = new PluginWorld();
  world.watches.clear();
  world.folders.add(`${root}/deep`);
  world.put('deep/a.sock');
  world.put('b.sock');
  await world.watcher.start();
  await world.clock.settle();
  assert.equal(world.taken().length, 4);
  world.unreadable.add(`${root}/deep`);
  world.remove('b.sock');
  await world.clock.advance(30_000);
  assert.deepEqual(world.taken(), [`deregister b.sock at ${root}/b.sock`]);
  assert.equal(world.log.entries.filter(({ message }) => message.startsWith('Cannot scan')).length, 1);
  world.unreadable.clear();
  world.remove('deep/a.sock');
  await world.clock.advance(10_000);
  assert.deepEqual(world.taken(), [`deregister deep/a.sock at ${root}/deep/a.sock`]);
  await world.watcher.stop();
});

test('counts what is there and what is registered', async () => {
  const world = new PluginWorld();
  world.put('a.sock');
  world.put('dead.sock', 'dead');
  await world.watcher.start();
  await world.clock.settle();
  const page = world.registry.render();
  assert.match(page, /plugin_manager_total_plugins\{socket_path="[^"]*a.sock",state="actual_state_of_world"\} 1/);
  assert.match(page, /plugin_manager_total_plugins\{socket_path="[^"]*a.sock",state="desired_state_of_world"\} 1/);
  assert.match(page, /dead.sock",state="desired_state_of_world"\} 1/);
  assert.doesNotMatch(page, /dead.sock",state="actual_state_of_world"/);
  await world.watcher.stop();
});
