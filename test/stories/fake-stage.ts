import type { Pod } from '../../src/gen/kubernetes/types.ts';
import { staticPodName } from '../../src/model/static-pod.ts';
import { defaultPodRules } from '../../src/model/validation/index.ts';
import { readManifest, type Contents } from '../../src/pods/sources/index.ts';
import { MemoryFiles } from '../../src/testing/memory-files.ts';
import { AgentWorld, testImage, testNode, testSettings } from '../support/old-agent-world.ts';
import { FakeCast } from './fake-cast.ts';
import { fakeInside } from './fake-inside.ts';
import { FakeLogs } from './fake-logs.ts';
import { fakeHookRequests, fakeProber } from './fake-network.ts';
import { criLines } from './log-lines.ts';
import { manifestOf, type Fields, type PodPlan } from './plan.ts';
import { clusterDomain, logLimits, storyGate } from './settings.ts';
import type { HealthService, Machine, SeenPod, Stage, StagePod } from './stage.ts';

const { nodeName, podLogsDir } = testSettings;
const defaultSeconds = 60;

const hosts = '127.0.0.1\tlocalhost\n127.0.1.1\tmachine\n';
const machine: Machine = {
  image: testImage,
  hostname: 'machine',
  hosts,
  resolver: { nameserver: ['192.0.2.53'], search: [], options: [] },
  memoryBytes: Number(testNode.memoryCapacityBytes),
  lowestOomScore: -1_000,
  allCapabilities: '000001ffffffffff',
  unconfined: '0',
};

/** A stage in virtual time: the real wiring on a fake runtime, for which the programs of the story are a script. */
export async function openFakeStage(): Promise<Stage> {
  const files = new MemoryFiles();
  const logs = new FakeLogs(files);
  const cast = new FakeCast();
  files.append('/etc/hosts', hosts);
  const world = new AgentWorld({
    files,
    logs,
    machine: (it) => ({
      settings: { ...testSettings, clusterDomain, featureGates: (gate) => gate === storyGate },
      terminationMessages: logs,
      logFiles: logs,
      logs: { limits: logLimits },
      prober: fakeProber(it, cast),
      hookRequests: fakeHookRequests(cast),
    }),
  });
  cast.direct(world);
  await world.start();
  return new FakeStage(world, cast);
}

class FakeStage implements Stage {
  readonly machine = machine;
  readonly #world: AgentWorld;
  readonly #cast: FakeCast;
  /** What stands in the manifests folder, by name of its file. */
  readonly #manifests = new Map<string, object>();

  constructor(world: AgentWorld, cast: FakeCast) {
    this.#world = world;
    this.#cast = cast;
  }

  async give(plan: PodPlan): Promise<StagePod> {
    await this.#put(plan);
    return this.#podOf(plan.name);
  }

  async giveObject(name: string, object: Fields): Promise<void> {
    this.#manifests.set(name, object);
    await this.#tell();
  }

  async pass(seconds: number): Promise<void> {
    await this.#world.clock.advance(seconds * 1_000);
  }

  async health(): Promise<HealthService> {
    return this.#cast.health;
  }

  /** Both ways it ends between two deeds, with its checkpoint written; agents that die at any await are simulated. */
  async restartAgent(): Promise<void> {
    await this.#world.stop();
    await this.#world.startSilent();
    await this.#tell();
  }

  async close(): Promise<void> {
    await this.#world.stop();
  }

  async #put(plan: PodPlan): Promise<void> {
    this.#cast.plan(staticPodName(plan.name, nodeName), plan);
    this.#manifests.set(plan.name, manifestOf(plan, testImage, `/story/${plan.name}`));
    await this.#tell();
  }

  /** As the file source reads its folder. */
  async #tell(): Promise<void> {
    const contents = [...this.#manifests].map(([name, object]) => this.#read(name, object));
    this.#world.machine.setObjects(contents.flatMap(({ objects }) => objects));
    await this.#world.manifests(...contents.flatMap(({ pods }) => pods));
  }

  #read(name: string, object: object): Contents {
    const manifest = readManifest(JSON.stringify(object), {
      nodeName,
      source: 'file',
      origin: `/manifests/${name}.json`,
      seen: '2025-01-01T00:00:00Z',
      preventApiReferences: true,
      allowFolderObjects: true,
      rules: { ...defaultPodRules, containerRestartRules: true },
    });
    if (manifest.faults.length > 0) throw new Error(`${name}: ${JSON.stringify(manifest.faults)}`);
    return manifest;
  }

  #podOf(plainName: string): StagePod {
    const world = this.#world;
    const name = staticPodName(plainName, nodeName);
    const find = (): Pod | undefined => world.machine.pods().find(({ metadata }) => metadata?.name === name);
    const reach = async (what: string, isSo: () => boolean, seconds: number): Promise<void> => {
      try {
        await world.clock.runUntil(isSo, seconds * 1_000);
      } catch (error) {
        const seen = JSON.stringify([find()?.status, this.#containers(name), this.#cast.folder(name).trail]);
        throw new Error(`pod ${plainName} ${what}: ${seen}`, { cause: error });
      }
    };
    return {
      name,
      async when(what, isSo, seconds = defaultSeconds) {
        const wanted = (): Pod | undefined => {
          const pod = find();
          return pod !== undefined && isSo(pod) ? pod : undefined;
        };
        await reach(what, () => wanted() !== undefined, seconds);
        const pod = wanted();
        if (pod === undefined) throw new Error(`pod ${plainName} ${what} no longer`);
        return pod;
      },
      now: async () => find(),
      edit: (plan) => this.#put(plan),
      writeAnew: async () => {
        const manifest = this.#manifests.get(plainName);
        if (manifest !== undefined) await world.writtenAnew(...this.#read(plainName, manifest).pods);
      },
      replaceFile: () => this.#tell(),
      remove: async () => {
        this.#manifests.delete(plainName);
        this.#cast.folder(name).trail.push({ at: world.clock.monotonic() / 1_000, word: 'removed' });
        await this.#tell();
      },
      gone: (seconds = defaultSeconds) => {
        const isLeft = (): boolean =>
          this.#containers(name).length > 0 ||
          [...world.cri.state.sandboxes.values()].some(({ config }) => config.metadata?.name === name);
        return reach('is gone', () => !isLeft(), seconds);
      },
      turn: async (what, on) => this.#cast.folder(name).turn(what, on),
      seen: this.#seen(name, find),
      inside: (container) => fakeInside(world.cri, world.files, machine, () => this.#cast.find(name, container)),
    };
  }

  #seen(name: string, find: () => Pod | undefined): SeenPod {
    const world = this.#world;
    const folderOf = (container: string): string => {
      const { namespace, uid } = find()?.metadata ?? {};
      return `${podLogsDir}/${namespace}_${name}_${uid}/${container}`;
    };
    return {
      statuses: () => world.statusHistory.get(find()?.metadata?.uid ?? '') ?? [],
      events: () => world.events.filter(({ pod }) => pod === name),
      containers: async () => this.#containers(name),
      trail: async () => this.#cast.folder(name).trail,
      log: async (container, instance = 0) =>
        criLines(await world.files.readText(`${folderOf(container)}/${instance}.log`)),
      logFiles: async (container) => {
        const folder = folderOf(container);
        const names = await world.files.list(folder);
        const texts = names.map(async (file) => [file, await world.files.readText(`${folder}/${file}`)] as const);
        return new Map(await Promise.all(texts));
      },
    };
  }

  #containers(name: string): readonly string[] {
    return [...this.#world.cri.state.containers.values()]
      .filter(({ config }) => config.labels['io.kubernetes.pod.name'] === name)
      .map(({ config, state }) => {
        const { name: container, attempt } = config.metadata ?? {};
        return `${container}#${attempt} ${state === 'exited' ? 'ended' : state}`;
      })
      .toSorted();
  }
}
