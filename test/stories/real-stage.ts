import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Pod } from '../../src/gen/kubernetes/types.ts';
import { serveHealth, type ServedHealth } from '../support/health-service.ts';
import { RealNode } from '../support/real-node.ts';
import type { Program } from '../support/real-program.ts';
import { nodeName } from '../support/real-runtime.ts';
import { clock, until } from '../support/real-wait.ts';
import { criLines } from './log-lines.ts';
import { manifestOf, type Fields, type PodPlan } from './plan.ts';
import { RealFolder } from './real-folder.ts';
import { realInside, realMachine } from './real-inside.ts';
import { RealWatch } from './real-watch.ts';
import { clusterDomain, logLimits, storyGate } from './settings.ts';
import {
  wordsOf,
  type HealthService,
  type Machine,
  type Mark,
  type OpenStage,
  type SeenPod,
  type Stage,
  type StagePod,
} from './stage.ts';

const defaultSeconds = 60;
/** The machine may be busy with other things; what stories measure, they measure by what programs noted. */
const patience = 2;

const flags = [
  '--logging-format=json',
  `--cluster-domain=${clusterDomain}`,
  `--feature-gates=${storyGate}=true`,
  `--container-log-max-size=${logLimits.maxSize}`,
  `--container-log-max-files=${logLimits.maxFiles}`,
];

/** A node with containerd and an agent, for all stories of a test file; each of them plays in a part of it. */
export class RealTheatre {
  readonly node: RealNode;
  readonly watch: RealWatch;
  readonly machine: Machine;
  readonly #healths: ServedHealth[] = [];
  #agent: Program | undefined;

  constructor(node: RealNode) {
    this.node = node;
    this.watch = new RealWatch(node);
    this.machine = realMachine(node);
  }

  static async open(name: string): Promise<RealTheatre> {
    const theatre = new RealTheatre(await RealNode.start(name));
    await theatre.#startAgent();
    theatre.watch.start();
    return theatre;
  }

  async health(): Promise<HealthService> {
    const health = await serveHealth();
    this.#healths.push(health);
    return health;
  }

  async restartAgent(how: 'kill' | 'graceful'): Promise<void> {
    this.#agent?.kill(how === 'kill' ? 'SIGKILL' : 'SIGTERM');
    await this.#agent?.ended;
    await this.#startAgent();
  }

  async close(): Promise<void> {
    await this.watch.stop();
    for (const health of this.#healths) health.close();
    await this.node.destroy();
  }

  async #startAgent(): Promise<void> {
    this.#agent = await this.node.workingAgent(flags);
    this.watch.listenTo(this.#agent);
  }
}

/** How many stories may play beside each other: on a slow machine they would keep each other from being in time. */
const atOnce = Number(process.env['TUBELET_TEST_STORIES_AT_ONCE'] || Number.POSITIVE_INFINITY);

/** The theatre is open only while the tests of its file run. */
export function openRealStage(theatre: () => RealTheatre): OpenStage {
  const waiting: (() => void)[] = [];
  let playing = 0;
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) playing--;
    else next();
  };
  return async () => {
    if (playing < atOnce) playing++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    return new RealStage(theatre(), leave);
  };
}

class RealStage implements Stage {
  readonly machine: Machine;
  readonly #theatre: RealTheatre;
  readonly #given = new Set<string>();
  readonly #leave: () => void;

  constructor(theatre: RealTheatre, leave: () => void) {
    this.#theatre = theatre;
    this.#leave = leave;
    this.machine = theatre.machine;
  }

  async give(plan: PodPlan): Promise<StagePod> {
    const folder = new RealFolder(join(this.#theatre.node.path, 'stories', plan.name));
    this.#put(plan, folder);
    return this.#podOf(plan.name, folder);
  }

  async giveObject(name: string, object: Fields): Promise<void> {
    this.#theatre.node.put(name, object);
  }

  async pass(seconds: number): Promise<void> {
    await clock.sleep(seconds * 1_000);
  }

  health(): Promise<HealthService> {
    return this.#theatre.health();
  }

  restartAgent(how: 'kill' | 'graceful'): Promise<void> {
    return this.#theatre.restartAgent(how);
  }

  /** Its pods make room for those of other stories. */
  async close(): Promise<void> {
    for (const name of this.#given) this.#takeAway(name);
    this.#leave();
  }

  #put(plan: PodPlan, folder: RealFolder): void {
    const { node } = this.#theatre;
    folder.prepare(plan);
    node.put(plan.name, manifestOf(plan, node.image, folder.path));
    this.#given.add(plan.name);
  }

  #takeAway(name: string): void {
    rmSync(join(this.#theatre.node.names.manifests, `${name}.json`), { force: true });
    this.#given.delete(name);
  }

  #podOf(name: string, folder: RealFolder): StagePod {
    const { node, watch } = this.#theatre;
    const trail = async (): Promise<readonly Mark[]> =>
      folder.trail(new Set((await node.runtime.running(name)).keys()));
    const observed = this.#seen(name);
    const state = async (): Promise<unknown> => ({
      status: watch.pod(name)?.status,
      containers: await observed.containers(),
      trail: await trail(),
      events: observed.events(),
    });
    // A container runs before its shell has come to the line that writes its start and listens to signals; asked to end by
    // then, it hears nothing, and a trail read by then lacks a start that the runtime has already reported.
    const listens = async (): Promise<void> => {
      const allHaveBegun = async (): Promise<boolean> => {
        const words = wordsOf(folder.trail(new Set()));
        const begun = (container: string): number => words.filter((word) => word === `${container} starts`).length;
        const containers = await node.runtime.containers(name);
        return containers.every(({ name: container, attempt, running }) => !running || begun(container) > attempt);
      };
      await until(`programs of pod ${name} listen`, allHaveBegun, {
        timeoutMs: defaultSeconds * patience * 1_000,
        state,
      });
    };
    const seen: SeenPod = {
      ...observed,
      trail: async () => {
        await listens();
        return trail();
      },
    };
    return {
      name: `${name}-${nodeName}`,
      async when(what, isSo, seconds = defaultSeconds) {
        const wanted = (): Pod | undefined => {
          const pod = watch.pod(name);
          return pod !== undefined && isSo(pod) ? pod : undefined;
        };
        return until(`pod ${name} ${what}`, wanted, { timeoutMs: seconds * patience * 1_000, state });
      },
      now: () => node.pod(name),
      edit: async (plan) => {
        await listens();
        this.#put(plan, folder);
      },
      writeAnew: async () => {
        await listens();
        node.writeAnew(name);
      },
      replaceFile: async () => {
        await listens();
        node.replaceFile(name);
      },
      remove: async () => {
        await listens();
        folder.mark('removed');
        this.#takeAway(name);
      },
      gone: async (seconds = defaultSeconds) => {
        const isGone = async (): Promise<boolean> => (await node.runtime.sandboxes(name)).length === 0;
        await until(`pod ${name} is gone`, isGone, { timeoutMs: seconds * patience * 1_000, state });
      },
      turn: async (what, on) => folder.turn(what, on),
      seen,
      inside: (container) => realInside(node, name, container),
    };
  }

  #seen(name: string): Omit<SeenPod, 'trail'> {
    const { node, watch } = this.#theatre;
    const folderOf = async (container: string): Promise<string> => {
      const { metadata } = (await node.pod(name)) ?? {};
      return join(node.names.podLogs, `${metadata?.namespace}_${metadata?.name}_${metadata?.uid}`, container);
    };
    return {
      statuses: () => watch.statuses(name),
      events: () => watch.events(`${name}-${nodeName}`),
      containers: async () => {
        const found = await node.runtime.containers(name);
        return found
          .map(({ name: container, attempt, running }) => `${container}#${attempt} ${running ? 'running' : 'ended'}`)
          .toSorted();
      },
      log: async (container, instance = 0) => {
        const path = join(await folderOf(container), `${instance}.log`);
        return criLines(readFileSync(path, 'utf8'));
      },
      logFiles: async (container) => {
        const path = await folderOf(container);
        const names = existsSync(path) ? readdirSync(path) : [];
        return new Map(names.map((file) => [file, readLog(join(path, file))]));
      },
    };
  }
}

function readLog(path: string): string {
  const bytes = readFileSync(path);
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
}
