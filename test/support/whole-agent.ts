import { TubeletError } from '../../src/base/errors.ts';
import { Heartbeats } from '../../src/base/heartbeats.ts';
import type { Settings } from '../../src/config/index.ts';
import type { RunPodSandboxRequest } from '../../src/gen/cri/api.ts';
import type { Node, Pod, PodSpec } from '../../src/gen/kubernetes/types.ts';
import type { AgentViews } from '../../src/main/agent/create-agent.ts';
import { startAgent, type RunningAgent } from '../../src/main/agent/start-agent.ts';
import { UnexpectedErrors } from '../../src/main/unexpected-errors.ts';
import { apiResources } from '../../src/model/api-resources.ts';
import type { Decisions } from '../../src/model/decisions.ts';
import { FlightRecorder } from '../../src/recorder/index.ts';
import type { FakeApiServer } from '../../src/testing/fake-api-server/index.ts';
import { aContainer, testImage } from '../../src/testing/pods.ts';
import type { Registry } from '../../src/telemetry/index.ts';
import { manifestFolder, nodeName as usualName, settingsOf } from './agent-settings.ts';
import {
  fakeMachine,
  fakePlatform,
  type FakeMachine,
  type FakePlatform,
  type PlatformOverrides,
} from './fake-platform.ts';
import type { PlayedPod } from './judge-log.ts';
import { judgeAfterEachTest } from './judged-logs.ts';

/** A start waits for a mirror or a runtime at most this long. */
const startMs = 60_000;
const stopMs = 60_000;

export interface WholeAgentOptions {
  readonly seed?: number;
  /** Whether there is an API server. */
  readonly cluster?: boolean;
  /** What outlives the agent; made of the seed unless told. */
  readonly machine?: FakeMachine;
  readonly nodeName?: string;
  /** Flags behind those that every agent here has. */
  readonly flags?: readonly string[];
  /** What a configuration file would say. */
  readonly config?: Partial<Settings['config']>;
  readonly overrides?: (machine: FakeMachine) => PlatformOverrides;
}

/** One life of the agent. */
interface Life {
  readonly platform: FakePlatform;
  readonly registry: Registry;
  readonly recorder: FlightRecorder;
  readonly end: AbortController;
  readonly agent: RunningAgent;
}

/**
 * The agent as the program makes it, on a node in memory. Tests speak at the edges alone: files in the manifests folder,
 * objects of the API server, containers of the runtime; the agent can stop, or be killed, and start again.
 */
export class WholeAgent {
  readonly machine: FakeMachine;
  readonly settings: Settings;
  readonly #nodeName: string;
  readonly #overrides: PlatformOverrides;
  #heartbeats = new Heartbeats();
  readonly #played = new Map<string, PlayedPod>();
  #lives = 0;
  #life: Life | undefined;

  constructor(options: WholeAgentOptions = {}) {
    const { nodeName = usualName, flags = [], config = {}, overrides = () => ({}) } = options;
    this.machine = options.machine ?? fakeMachine(options);
    this.machine.cri.images.add(testImage);
    this.#nodeName = nodeName;
    const own = [`--hostname-override=${nodeName}`, ...(this.machine.api ? ['--kubeconfig=/kubeconfig'] : [])];
    const settings = settingsOf([...own, ...flags]);
    this.settings = { ...settings, config: { ...settings.config, ...config } };
    this.#overrides = overrides(this.machine);
    judgeAfterEachTest(this);
  }

  get log(): FakeMachine['log'] {
    return this.machine.log;
  }

  /** All pods that a source named or the runtime was given, in all lives of the agent. */
  playedPods(): readonly PlayedPod[] {
    for (const { verb, request } of this.machine.cri.calls) {
      const metadata = verb === 'runPodSandbox' ? (request as RunPodSandboxRequest).config?.metadata : undefined;
      if (metadata !== undefined) this.#played.set(metadata.uid, metadata);
    }
    return [...this.#played.values()];
  }

  get clock(): FakeMachine['clock'] {
    return this.machine.clock;
  }

  get api(): FakeApiServer {
    const { api } = this.machine;
    if (api === undefined) throw new Error('this node has no cluster');
    return api;
  }

  get views(): AgentViews {
    return this.#living().agent.views;
  }

  /** The loops of the agent that runs. */
  get heartbeats(): Heartbeats {
    return this.#heartbeats;
  }

  /** The metrics of the life that is. */
  get registry(): Registry {
    return this.#living().registry;
  }

  /** What the life that is decided. */
  get recorder(): FlightRecorder {
    return this.#living().recorder;
  }

  async start(): Promise<void> {
    const { settings, clock } = this;
    this.#heartbeats = new Heartbeats(settings.config.runtimeRequestTimeout.toMillis());
    const platform = fakePlatform(this.machine, this.#lives++, this.#overrides);
    const [end, registries] = [new AbortController(), [] as Registry[]];
    const unexpected = new UnexpectedErrors({ clock, log: this.log });
    const identity = {
      nodeName: this.#nodeName,
      heartbeats: this.#heartbeats,
      lastRun: undefined,
      onServing: async () => {},
      countUnexpected: (metrics: Registry) => {
        unexpected.countIn(metrics);
        registries.push(metrics);
      },
    };
    let recorder: Decisions | undefined;
    const openHost: FakePlatform['openHost'] = (ports, wanted) => {
      recorder = ports.decisions;
      return platform.openHost(ports, wanted);
    };
    const starting = startAgent(settings, { ...platform, openHost }, identity, end.signal);
    const agent = await this.#inTime(starting, startMs);
    const [registry] = registries;
    if (registry === undefined) throw new Error('the agent has no metrics');
    if (!(recorder instanceof FlightRecorder)) throw new Error('the agent does not record what it decides');
    this.#life = { platform, registry, recorder, end, agent };
    this.#rememberPods(agent.views);
    await clock.advance(0);
  }

  /** Ends the agent in order; pods go on. */
  async stop(): Promise<void> {
    const { agent, end } = this.#living();
    this.#life = undefined;
    end.abort(new TubeletError('cancelled', 'the agent ends'));
    await this.#inTime(agent.stop(), stopMs);
  }

  /** The agent is dead from now on: nothing it still does arrives anywhere. */
  async kill(): Promise<void> {
    this.#living().platform.cut();
    await this.stop();
  }

  /** Writes a manifest into the folder. */
  manifest(name: string, spec: Partial<PodSpec> = {}): void {
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: specOf(spec) };
    this.machine.manifests.put(`${manifestFolder}/${name}.json`, JSON.stringify(pod));
  }

  removeManifest(name: string): void {
    this.machine.manifests.remove(`${manifestFolder}/${name}.json`);
  }

  /** A pod that a user made and the scheduler bound here. */
  bind(name: string, spec: Partial<PodSpec> = {}): void {
    this.api.objects.put<Pod>({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default' },
      spec: { ...specOf(spec), nodeName: this.#nodeName },
    });
  }

  /** As a user does it. */
  delete(name: string): void {
    this.api.objects.remove(apiResources.pods, { namespace: 'default', name });
  }

  /** A pod as the API server has it. */
  pod(name: string): Pod | undefined {
    return this.api.objects.find<Pod>(apiResources.pods, { namespace: 'default', name });
  }

  /** This node as the API server has it. */
  node(): Node | undefined {
    return this.api.objects.find<Node>(apiResources.nodes, { name: this.#nodeName });
  }

  /** Names of the pods of which the runtime has a running container. */
  running(): string[] {
    return [...this.machine.cri.state.containers.values()]
      .filter(({ state }) => state === 'running')
      .map(({ config }) => config.labels['io.kubernetes.pod.name'] ?? '')
      .toSorted();
  }

  /** What each component still remembers of pods; those that remember nothing are left out. */
  remembered(): Record<string, number> {
    return Object.fromEntries([...this.views.signals.podRemoval.sizes()].filter(([, size]) => size > 0));
  }

  /** Lets time go on until the work has ended; a clock of the agent's own goes on by itself. */
  async #inTime<T>(work: Promise<T>, limitMs: number): Promise<T> {
    if (this.#overrides.clock !== undefined && this.#overrides.clock !== this.clock) return work;
    let ended = false;
    const end = (): void => {
      ended = true;
    };
    work.then(end, end);
    await this.clock.runUntil(() => ended, limitMs);
    return work;
  }

  /** Every pod gets a status, also one that is refused. */
  #rememberPods({ stores: { desired }, signals }: AgentViews): void {
    const remember = (pod: PlayedPod | undefined): void => {
      if (pod !== undefined) this.#played.set(pod.uid, pod);
    };
    for (const pod of desired.all()) remember(pod);
    signals.statusChanged.listen((uid) => remember(desired.get(uid)));
  }

  #living(): Life {
    if (this.#life === undefined) throw new Error('the agent is not running');
    return this.#life;
  }
}

function specOf(spec: Partial<PodSpec>): PodSpec {
  return { containers: [aContainer('main')], dnsPolicy: 'Default', ...spec };
}
