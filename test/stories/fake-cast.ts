import type { FakeContainer } from '../../src/testing/fake-cri/index.ts';
import type { AgentWorld } from '../support/agent-world.ts';
import type { FakeListeners } from './fake-network.ts';
import { fakeBehaviour, fakeCommand, FakeFolder } from './fake-programs.ts';
import { containersOf, type ContainerPlan, type PodPlan } from './plan.ts';
import { unreachableImage } from './settings.ts';

/** A real runtime takes its time, too. */
const sandboxMs = 100;
const createMs = 20;
const startMs = 30;

const ok = 200;
const notFound = 404;
const markPath = '/cgi-bin/mark?';

/** Who plays: what the containers of all pods of a story do, as a script for the fake runtime. */
export class FakeCast implements FakeListeners {
  readonly health = { port: 5_000, serving: false, asked: new Set<string>() };
  /** By the names of pods, which have the node's behind them. */
  readonly #plans = new Map<string, PodPlan>();
  readonly #folders = new Map<string, FakeFolder>();
  readonly #starts = new Map<string, number>();
  #world: AgentWorld | undefined;

  /** Gives the runtime its script. */
  direct(world: AgentWorld): void {
    const { cri } = world;
    this.#world = world;
    cri.faults.delay('runPodSandbox', sandboxMs);
    cri.faults.delay('createContainer', createMs);
    cri.faults.delay('startContainer', startMs);
    cri.images.scriptPulls(unreachableImage.name, {
      failure: { kind: 'unavailable', message: unreachableImage.failure },
    });
    cri.programs.otherwise(({ pod, container }) => {
      const plan = this.#planOf(pod, container);
      if (plan === undefined) return {};
      const key = `${pod}/${container}`;
      const turn = this.#starts.get(key) ?? 0;
      this.#starts.set(key, turn + 1);
      const self = this.find(pod, container);
      return fakeBehaviour(world, plan, turn, this.folder(pod), () => self);
    });
    cri.execs.on((words, container) => fakeCommand(world, words, this.folder(podOf(container))));
  }

  plan(pod: string, plan: PodPlan): void {
    this.#plans.set(pod, plan);
  }

  folder(pod: string): FakeFolder {
    const folder = this.#folders.get(pod) ?? new FakeFolder();
    this.#folders.set(pod, folder);
    return folder;
  }

  /** The newest container of a name. */
  find(pod: string, name: string): FakeContainer {
    const found = this.#containers().findLast(
      (container) => podOf(container) === pod && container.config.metadata?.name === name,
    );
    if (found === undefined) throw new Error(`pod ${pod} has no container ${name}`);
    return found;
  }

  get(address: string, port: number, target: string, userAgent: string): number | undefined {
    const pod = this.#serving(address, port);
    if (pod === undefined) return undefined;
    const { on, trail } = this.folder(pod);
    if (!target.startsWith(markPath)) return on.has(target.slice(1)) ? ok : notFound;
    const at = (this.#world?.clock.monotonic() ?? 0) / 1_000;
    trail.push({ at, word: `${target.slice(markPath.length)} ${userAgent}` });
    return ok;
  }

  listens(address: string, port: number): boolean {
    return this.#serving(address, port) !== undefined;
  }

  /** The pod at this address with a program that serves at this port. */
  #serving(address: string, port: number): string | undefined {
    const server = this.#containers().find((container) => {
      if (container.state !== 'running' || this.#world?.cri.state.sandbox(container.sandboxId).ip !== address)
        return false;
      const pod = podOf(container);
      const name = container.config.metadata?.name ?? '';
      const turn = (this.#starts.get(`${pod}/${name}`) ?? 1) - 1;
      const does = this.#planOf(pod, name)?.does ?? [];
      return does[Math.min(turn, does.length - 1)]?.serves === port;
    });
    return server && podOf(server);
  }

  #planOf(pod: string, container: string): ContainerPlan | undefined {
    const plan = this.#plans.get(pod);
    return plan && containersOf(plan).find(({ name }) => name === container);
  }

  #containers(): readonly FakeContainer[] {
    return [...(this.#world?.cri.state.containers.values() ?? [])];
  }
}

const podOf = ({ config }: FakeContainer): string => config.labels['io.kubernetes.pod.name'] ?? '';
