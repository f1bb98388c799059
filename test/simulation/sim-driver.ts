import { noCalls } from '../../src/base/calls.ts';
import type { Clock } from '../../src/base/clock.ts';
import { TubeletError } from '../../src/base/errors.ts';
import type { OpenRpc, RpcChannel } from '../../src/base/rpc.ts';
import { rpcError } from '../../src/grpc/index.ts';
import { FakeCsiDriver } from '../../src/testing/fake-csi-driver.ts';
import { StatusError } from '../../src/testing/fake-registration.ts';
import { DriverClient } from '../../src/volumes/csi/driver-client.ts';
import { notRegistered } from '../../src/volumes/csi/driver-errors.ts';
import type { RegistryFiles } from '../../src/plugins/index.ts';
import type { BlockDevices, FoundDrivers } from '../../src/volumes/csi/index.ts';
import type { SimDisk } from './disk/sim-disk.ts';
import type { Life } from './life.ts';
import { csiDriver, type Storage } from './storage.ts';

/** Calls that change something, in the words of the driver. */
export const driverVerbs = [
  'nodeStageVolume',
  'nodePublishVolume',
  'nodeUnpublishVolume',
  'nodeUnstageVolume',
] as const;

const socketName = 'sim-reg.sock';

/** A storage driver beside the agent: what it mounts, and what it knows of that, outlives every agent. */
export class SimDriver {
  readonly fake: FakeCsiDriver;
  /** Those who look at the folder of registration sockets. */
  readonly #lookers = new Set<() => void>();
  #isAway = false;
  /** How often it has come. */
  #comings = 1;
  /** Told when one agent asks for two things at once about a volume. */
  complain: (rule: string) => void = () => {};
  /** Volumes that are being worked on, and for which life of the agent. */
  readonly #busy = new Map<string, Life>();
  readonly #disk: SimDisk;
  readonly #storage: Storage;

  constructor(clock: Clock, disk: SimDisk, storage: Storage) {
    this.#disk = disk;
    this.#storage = storage;
    this.fake = new FakeCsiDriver({ clock, name: csiDriver, targets: this.#targets() });
  }

  get isAway(): boolean {
    return this.#isAway;
  }

  /** It ends, and its registration socket with it. */
  go(): void {
    this.#isAway = true;
    for (const look of this.#lookers) look();
  }

  come(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#comings++;
    for (const look of this.#lookers) look();
  }

  /** The folder of registration sockets as one life of the agent sees it. */
  registry(life: Life): RegistryFiles {
    return {
      makeFolder: async () => {},
      list: async () => (this.#isAway ? [] : [{ name: socketName, kind: 'socket' }]),
      identify: async (path) => (path.endsWith(socketName) ? `${path}#${this.#comings}` : path),
      watch: (_, onChange) => {
        const look = (): void => {
          if (!life.dead) onChange();
        };
        this.#lookers.add(look);
        return () => this.#lookers.delete(look);
      },
    };
  }

  /** Its sockets as one life of the agent reaches them: the one where it registers, and its own. */
  sockets(life: Life): OpenRpc {
    const own = this.#open(life);
    return (path, onLost) => (path.endsWith(socketName) ? this.#registration(life) : own(path, onLost));
  }

  #registration(life: Life): RpcChannel {
    const info = { type: 'CSIPlugin', name: csiDriver, endpoint: '/csi.sock', supportedVersions: ['1.0.0'] };
    const gone = (): Promise<never> => Promise.reject(new TubeletError('unavailable', 'nobody listens'));
    return {
      connected: () => (this.#isAway ? gone() : Promise.resolve()),
      call: (method, _, how) =>
        life.through(
          `register ${method.path}`,
          '',
          () => (this.#isAway ? gone() : Promise.resolve((method.path.endsWith('GetInfo') ? info : {}) as never)),
          how?.signal,
        ),
      close: () => {},
    };
  }

  /** The drivers that one life of the agent finds. */
  found(life: Life): FoundDrivers {
    const common = { clock: life.clock, open: this.#open(life), called: () => {} };
    const client = new DriverClient({ calls: noCalls, ...common, name: csiDriver, endpoint: '/csi.sock' });
    return {
      find: (name) => {
        if (this.#isAway || name !== csiDriver) throw notRegistered(name);
        return client;
      },
    };
  }

  /** What was mounted is gone with the machine's memory, and the driver knows it. */
  reboot(): void {
    for (const id of this.fake.volumes.inUse()) {
      const volume = this.fake.volumes.get(id);
      volume?.published.clear();
      delete volume?.staged;
    }
  }

  /** Each call is a step: the driver is another program, and does as a whole what it is asked. */
  #open(life: Life): OpenRpc {
    return (path, onLost) => {
      const channel = this.fake.open(path, onLost);
      return {
        ...channel,
        call: (method, request, how) =>
          life.through(
            `call ${method.path}`,
            '',
            async (signal) => {
              this.#disk.watch?.before('call', method.path);
              const answer = await this.#alone(life, request, () => channel.call(method, request, { ...how, signal }));
              this.#disk.watch?.after('call', method.path);
              return answer;
            },
            how?.signal,
          ),
      };
    };
  }

  /** One thing at a time for each volume, as drivers must: what a dead agent asked for may still be under way. */
  async #alone<T>(life: Life, request: unknown, work: () => Promise<T>): Promise<T> {
    const { volumeId } = request as { readonly volumeId?: string };
    if (volumeId === undefined) return work();
    if (this.#busy.get(volumeId) === life)
      this.complain(`the driver is asked for two things at once about ${volumeId}`);
    if (this.#busy.has(volumeId)) throw rpcError(new StatusError('ABORTED', `${volumeId} is being worked on`));
    this.#busy.set(volumeId, life);
    try {
      return await work();
    } finally {
      this.#busy.delete(volumeId);
    }
  }

  /** It makes the folder where there is none, and takes it away again. */
  #targets() {
    const disk = this.#disk;
    return {
      make: async (path: string): Promise<void> => {
        disk.put(path, 'folder');
        const top = this.#storage.sources.get(csiDriver);
        if (top === undefined) throw new TubeletError('internal', `nothing is behind ${csiDriver}`);
        if (disk.table.atOrBelow(path).length > 0) return;
        disk.watch?.mounted(disk.table.add(path, top, disk.place(path), []));
      },
      remove: async (path: string): Promise<void> => {
        for (const mount of disk.table.atOrBelow(path)) {
          disk.table.remove(mount);
          disk.watch?.unmounted(mount);
        }
        const folder = disk.table.walk(path)?.inode;
        folder?.parent?.drop(folder.name);
      },
    };
  }
}

/** No plan has a volume that is handed over as a device. */
const nobody = (): Promise<never> => Promise.reject(new TubeletError('unsupported', 'there are no devices here'));
export const noDevices: BlockDevices = {
  link: nobody,
  unlink: nobody,
  hold: nobody,
  release: nobody,
  removePlaceholder: nobody,
};
