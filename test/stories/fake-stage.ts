import type { Pod } from '../../src/gen/kubernetes/types.ts';
import { staticPodName } from '../../src/model/static-pod.ts';
import { MemoryFiles } from '../../src/testing/memory-files.ts';
import { testImage } from '../../src/testing/pods.ts';
import { manifestFolder, nodeName } from '../support/agent-settings.ts';
import { AgentWorld } from '../support/agent-world.ts';
import { machineMemory } from '../support/fake-host.ts';
import { fakeMachine } from '../support/fake-platform.ts';
import { FakeCast } from './fake-cast.ts';
import { fakeInside } from './fake-inside.ts';
import { FakeLogs } from './fake-logs.ts';
import { fakeHookRequests, fakeProber } from './fake-network.ts';
import { criLines } from './log-lines.ts';
import { manifestOf, type Fields, type PodPlan } from './plan.ts';
import { clusterDomain, logLimits, storyGate } from './settings.ts';
import type { HealthService, Machine, SeenPod, Stage, StagePod } from './stage.ts';

const podLogsDir = '/var/log/pods';
/** A look at the folder follows a change after a millisecond. */
const lookMs = 2;
const defaultSeconds = 60;

const hosts = '127.0.0.1\tlocalhost\n127.0.1.1\tmachine\n';
const machine: Machine = {
  image: testImage,
  hostname: 'machine',
  hosts,
  resolver: { nameserver: ['192.0.2.53'], search: [], options: [] },
  memoryBytes: Number(machineMemory),
  lowestOomScore: -1_000,
  allCapabilities: '000001ffffffffff',
  unconfined: '0',
};

const flags = [
  `--cluster-domain=${clusterDomain}`,
  `--feature-gates=${storyGate}=true`,
  `--container-log-max-size=${logLimits.maxSize}`,
  `--container-log-max-files=${logLimits.maxFiles}`,
];

/** A stage in virtual time: the whole agent on a fake runtime, for which the programs of the story are a script. */
export async function openFakeStage(): Promise<Stage> {
  const files = new MemoryFiles();
  const logs = new FakeLogs(files);
  const cast = new FakeCast();
  files.append('/etc/hosts', hosts);
  const world = new AgentWorld({
    machine: fakeMachine({ files, runtime: { logs } }),
    flags,
    overrides: () => ({
      podHost: (own) => ({
        ...own,
        terminationMessages: logs,
        logFiles: logs,
        prober: fakeProber(own.prober, cast),
        hookRequests: fakeHookRequests(cast),
      }),
    }),
  });
  cast.direct(world);
  await world.start();
  return new FakeStage(world, cast);
}

const pathOf = (name: string): string => `${manifestFolder}/${name}.json`;

class FakeStage implements Stage {
  readonly machine = machine;
  readonly #world: AgentWorld;
  readonly #cast: FakeCast;

  constructor(world: AgentWorld, cast: FakeCast) {
    this.#world = world;
    this.#cast = cast;
  }

  async give(plan: PodPlan): Promise<StagePod> {
    await this.#put(plan);
    return this.#podOf(plan.name);
  }

  async giveObject(name: string, object: Fields): Promise<void> {
    await this.#write(name, object);
  }

  async pass(seconds: number): Promise<void> {
    await this.#world.clock.advance(seconds * 1_000);
  }

  async health(): Promise<HealthService> {
    return this.#cast.health;
  }

  async restartAgent(how: 'kill' | 'graceful'): Promise<void> {
    await (how === 'kill' ? this.#world.kill() : this.#world.stop());
    await this.#world.start();
  }

  async close(): Promise<void> {
    await this.#world.stop();
  }

  async #put(plan: PodPlan): Promise<void> {
    this.#cast.plan(staticPodName(plan.name, nodeName), plan);
    await this.#write(plan.name, manifestOf(plan, testImage, `/story/${plan.name}`));
  }

  async #write(name: string, object: object): Promise<void> {
    this.#world.machine.manifests.put(pathOf(name), JSON.stringify(object));
    await this.#world.clock.advance(lookMs);
  }

  #podOf(plainName: string): StagePod {
    const world = this.#world;
    const [name, path] = [staticPodName(plainName, nodeName), pathOf(plainName)];
    const find = (): Pod | undefined => world.views.pods.pods().find(({ metadata }) => metadata?.name === name);
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
        const { manifests } = world.machine;
        const text = manifests.texts.get(path) ?? '';
        manifests.remove(path);
        // A file system tells of a new file by its entry first.
        manifests.emit(path, 'entry');
        manifests.put(path, text);
        await world.clock.advance(lookMs);
      },
      replaceFile: async () => {
        // A rename takes the old name away before it gives its file the new one.
        world.machine.manifests.emit(`${manifestFolder}/.new`, 'entry');
        world.machine.manifests.emit(path, 'entry');
        await world.clock.advance(lookMs);
      },
      remove: async () => {
        this.#cast.folder(name).trail.push({ at: world.clock.monotonic() / 1_000, word: 'removed' });
        world.machine.manifests.remove(path);
        await world.clock.advance(lookMs);
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
      events: () => world.events.filter(({ pod }) => staticPodName(pod, nodeName) === name),
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
