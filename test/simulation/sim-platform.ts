import { TubeletError } from '../../src/base/errors.ts';
import type { Host } from '../../src/main/agent/platform.ts';
import { createProber } from '../../src/pods/probes/index.ts';
import { MemorySetupMachine } from '../../src/testing/memory-setup-machine.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { fakeHost } from '../support/fake-host.ts';
import { fakePlatform, type FakeMachine, type FakePlatform } from '../support/fake-platform.ts';
import type { SimDisk } from './disk/sim-disk.ts';
import { simMountPrograms, simVolumeHost } from './disk/volume-faces.ts';
import { lifeAsked, lifeAtOnce, lifeFiles, lifeMountPrograms, lifeVolumeHost } from './life-disk.ts';
import { lifeApi, lifeCri } from './life-wires.ts';
import type { Life } from './life.ts';
import { noDevices, type SimDriver } from './sim-driver.ts';
import type { Storage } from './storage.ts';

/** All of a machine that outlives its agents. */
export interface SimMachine {
  readonly machine: FakeMachine;
  readonly disk: SimDisk;
  readonly storage: Storage;
  readonly driver: SimDriver;
  /** Says which boot of the machine this is. */
  readonly bootId: () => string;
  readonly complain: (rule: string) => void;
}

/** What one life of the agent reaches: the whole fake machine, through the border of that life. */
export function simPlatform(sim: SimMachine, life: Life, number: number): FakePlatform {
  const { machine } = sim;
  return fakePlatform(machine, number, {
    clock: life.clock,
    random: seededRandom(machine.seed * 1_000 + number),
    connectRuntime: () => ({ cri: lifeCri(life, machine.cri), eventSources: [] }),
    apiWire: (server) => lifeApi(life, server),
    host: simHost(sim, life),
  });
}

function simHost({ machine, disk, storage, driver, bootId, complain }: SimMachine, life: Life): Partial<Host> {
  const files = lifeFiles(life, disk);
  const usual = fakeHost({ ...machine, clock: life.clock }, machine.files, machine.cri);
  const checkpoints: Host['checkpoints'] = {
    read: (path) => files.readText(path),
    replace: (path, text) => files.replaceFile(path, text, 0o600),
    putAside: async (path) => complain(`${path} is damaged`),
  };
  return {
    setup: new MemorySetupMachine(files),
    checkpoints,
    node: { ...usual.node, identity: async () => ({ ...(await usual.node.identity()), bootId: bootId() }) },
    pods: {
      ...usual.pods,
      files,
      terminationMessages: {
        readEnd: async (path, bytes) => (await files.readText(path)).slice(-bytes),
        readLogTail: async (path, { bytes }) => (await files.readText(path)).slice(-bytes),
      },
      prober: createProber({ clock: life.clock, runtime: lifeCri(life, machine.cri) }),
      userNamespaces: {
        enabled: true,
        files: {
          list: (path) => files.list(path),
          readText: (path) => files.readText(path),
          replace: (path, text) => files.replaceFile(path, text, 0o600),
        },
        readSpace: async () => Promise.reject(new TubeletError('unsupported', 'there are no ids to give')),
      },
    },
    sources: { files: manifestsOf(machine, life), http: usual.sources.http },
    volumes: {
      host: lifeVolumeHost(life, simVolumeHost(disk)),
      programs: lifeMountPrograms(life, simMountPrograms(disk, storage.sources)),
      files,
      devices: noDevices,
    },
    images: {
      files: {
        readText: (path) => files.readText(path),
        makeFolder: (path, mode) => files.makeFolder(path, mode),
        writeAtomic: (path, content, mode) => files.replaceFile(path, content, mode),
        list: (path) => files.list(path),
        removeTree: (path) => files.removeTree(path),
      },
      pluginRunner: usual.images.pluginRunner,
    },
    plugins: { files: driver.registry(life), open: driver.sockets(life) },
    cgroups: {
      ...usual.cgroups,
      tree: lifeAtOnce(life, usual.cgroups.tree),
      processes: lifeAtOnce(life, usual.cgroups.processes),
    },
  };
}

/** Reading takes its time; a dead agent hears nothing of what the watch reports. */
function manifestsOf({ manifests }: FakeMachine, life: Life): Host['sources']['files'] {
  const asked = lifeAsked(life, manifests);
  return {
    readdir: (path) => asked.readdir(path),
    stat: (path) => asked.stat(path),
    readFile: (path) => asked.readFile(path),
    watch: (path, onChange) =>
      manifests.watch(path, (name, kind) => {
        if (!life.dead) onChange(name, kind);
      }),
  };
}
