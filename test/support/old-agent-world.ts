import { Heartbeats } from '../../src/base/heartbeats.ts';
import { podUid, type PodUid } from '../../src/base/ids.ts';
import type { RunPodSandboxRequest } from '../../src/gen/cri/api.ts';
import type { PodStatus } from '../../src/gen/kubernetes/types.ts';
import { ComponentRunner } from '../../src/main/component-runner.ts';
import { createSignals } from '../../src/main/agent/signals.ts';
import type { DesiredPod, PodSource } from '../../src/model/desired-pod.ts';
import type { PodEvent } from '../../src/model/object-event.ts';
import type { NodeFacts, RuntimeSettings } from '../../src/model/runtime-settings.ts';
import { FlightRecorder } from '../../src/recorder/index.ts';
import { anAdmissionNode } from '../../src/testing/admission-node.ts';
import { createFakeCri, type FakeCri, type FakeLogSink } from '../../src/testing/fake-cri/index.ts';
import { FakeClock } from '../../src/testing/fake-clock.ts';
import { MemoryFiles } from '../../src/testing/memory-files.ts';
import { memoryMountPrograms, memoryVolumeHost } from '../../src/testing/memory-volume-host.ts';
import { MemoryLog } from '../../src/testing/memory-log.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { wholeCgroups } from '../../src/testing/whole-cgroups.ts';
import type { PlayedPod } from './judge-log.ts';
import { judgeAfterEachTest } from './judged-logs.ts';
import { createPodWorld, type PodWorld, type PodWorldDeps } from './pod-world.ts';

export const testImage = 'localhost/test/busybox:1';

export const testSettings: RuntimeSettings = {
  nodeName: 'node-1',
  rootDir: '/var/lib/kubelet',
  podLogsDir: '/var/log/pods',
  cgroupRoot: '/',
  cgroupDriver: 'cgroupfs',
  cgroupsPerQos: true,
  cgroupVersion: 1,
  clusterDns: [],
  clusterDomain: '',
  resolvConf: '/etc/resolv.conf',
  seccompDefault: false,
  seccompProfileRoot: '/var/lib/kubelet/seccomp',
  cpuCfsQuota: true,
  cpuCfsQuotaPeriodMs: 100,
  singleProcessOomKill: true,
  memorySwapBehavior: 'NoSwap',
  swapControllerAvailable: false,
  memoryThrottlingFactor: 0.9,
  selinuxEnabled: false,
  featureGates: () => false,
};

export const testNode: NodeFacts = {
  memoryCapacityBytes: 8n << 30n,
  swapCapacityBytes: 0n,
  allocatable: { cpu: '2', memory: '8Gi', 'ephemeral-storage': '100Gi' },
  hugePageSizes: ['2MB'],
  thermalThrottlePaths: [],
};

interface AgentWorldOptions {
  readonly seed?: number;
  readonly clock?: FakeClock;
  readonly source?: PodSource;
  readonly files?: MemoryFiles;
  /** Where the output of containers goes; nowhere unless told. */
  readonly logs?: FakeLogSink;
  /** What else the agent is wired with. */
  readonly machine?: (world: AgentWorld) => Partial<PodWorldDeps>;
}

/** Host ids for three pods with users of their own. */
const testIds = { first: 65_536, end: 4 * 65_536, blockLength: 65_536 };

/** One node on virtual time: a runtime and a disk that outlive the agent, and an agent that can die and come back. */
export class AgentWorld {
  readonly clock: FakeClock;
  readonly cri: FakeCri;
  readonly files: MemoryFiles;
  readonly log = new MemoryLog();
  /** The loops of the agent that runs. */
  readonly heartbeats = new Heartbeats(120_000);
  readonly events: (PodEvent & { readonly pod: string })[] = [];
  readonly removedCgroups: string[] = [];
  /** Pods of which nothing is left. */
  readonly gone: string[] = [];
  readonly statusHistory = new Map<string, PodStatus[]>();
  allocatableCpu = '4';
  podLimit = '110';
  readonly #seed: number;
  readonly #source: PodSource;
  readonly #more: (world: AgentWorld) => Partial<PodWorldDeps>;
  readonly #played = new Map<string, PlayedPod>();
  #manifests: readonly DesiredPod[] = [];
  #lives = 0;
  /** What this life of the agent decided. */
  recorder: FlightRecorder | undefined;
  #machine: PodWorld | undefined;
  /** What a checkpoint would have kept of the last life. */
  #kept: readonly (readonly [PodUid, PodStatus])[] = [];
  #runner: ComponentRunner | undefined;

  constructor(options: AgentWorldOptions = {}) {
    this.#source = options.source ?? 'file';
    this.#seed = options.seed ?? 1;
    this.clock = options.clock ?? new FakeClock();
    this.files = options.files ?? new MemoryFiles();
    this.#more = options.machine ?? (() => ({}));
    this.cri = createFakeCri({ clock: this.clock, ...(options.logs && { logs: options.logs }) });
    this.cri.images.add(testImage);
    judgeAfterEachTest(this);
  }

  /** All pods that a source named or the runtime was given, in all lives of the agent. */
  playedPods(): readonly PlayedPod[] {
    for (const { uid, namespace, name } of this.#machine?.desired.all() ?? [])
      this.#played.set(uid, { uid, namespace, name });
    for (const { verb, request } of this.cri.calls) {
      const metadata = verb === 'runPodSandbox' ? (request as RunPodSandboxRequest).config?.metadata : undefined;
      if (metadata !== undefined) this.#played.set(metadata.uid, metadata);
    }
    return [...this.#played.values()];
  }

  get machine(): PodWorld {
    if (this.#machine === undefined) throw new Error('the agent is not running');
    return this.#machine;
  }

  get running(): boolean {
    return this.#machine !== undefined;
  }

  /** Starts the agent; it hears of the manifests after its start, as from a file source. */
  async start(): Promise<void> {
    await this.startSilent();
    this.machine.set(this.#source, this.#manifests);
    await this.clock.advance(0);
  }

  /** Starts the agent, and its source says nothing yet. */
  async startSilent(): Promise<void> {
    const { clock, cri, files, log, heartbeats } = this;
    const more = this.#more(this);
    const signals = more.signals ?? createSignals(log);
    const recorder = new FlightRecorder({ clock, removal: signals.podRemoval });
    const machine = createPodWorld({
      signals,
      heartbeats,
      clock,
      random: seededRandom(this.#seed * 1_000 + this.#lives++),
      log,
      cri,
      files,
      volumeHost: memoryVolumeHost(files),
      mountPrograms: memoryMountPrograms(files),
      cgroups: { ...wholeCgroups, remove: async (uid) => void this.removedCgroups.push(uid) },
      decisions: recorder,
      events: { record: ({ name }, event) => void this.events.push({ ...event, pod: name }) },
      settings: testSettings,
      node: testNode,
      admissionNode: () =>
        anAdmissionNode({
          allocatable: { cpu: this.allocatableCpu, memory: '8Gi', 'ephemeral-storage': '100Gi', pods: this.podLimit },
        }),
      hostIps: () => ['192.0.2.1'],
      hostDns: async () => ({ servers: ['192.0.2.53'], searches: [], options: [] }),
      runtimeName: () => 'fake',
      userNamespaces: {
        enabled: true,
        files: {
          list: (path) => files.list(path),
          readText: (path) => files.readText(path),
          replace: (path, text) => files.writeFile(path, text, 0o600),
        },
        readSpace: async () => ({ space: testIds, origin: 'default' }),
      },
      sources: [this.#source],
      resyncMs: 60_000,
      onStatus: (uid, status) => this.#remember(uid, status),
      onRemoved: (uid) => void this.gone.push(uid),
      ...more,
    });
    machine.statuses.restore(this.#kept);
    this.recorder = recorder;
    this.#machine = machine;
    this.#runner = new ComponentRunner({ clock, log, stopMs: 10_000 });
    await this.#runner.start(machine.components, new AbortController().signal);
  }

  /** Ends the agent; pods go on. Without its checkpoint the next one knows only what it sees. */
  async stop({ checkpoint = true }: { readonly checkpoint?: boolean } = {}): Promise<void> {
    const runner = this.#runner;
    this.#kept = checkpoint ? [...(this.#machine?.statuses.all() ?? [])] : [];
    this.#machine = undefined;
    this.#runner = undefined;
    if (runner === undefined) return;
    const stopped = runner.stop();
    await this.clock.advance(0);
    await stopped;
  }

  /** What stands in the manifests folder, or in the API server where that is the source, from now on. */
  async manifests(...pods: readonly DesiredPod[]): Promise<void> {
    this.#manifests = pods;
    for (const { uid, namespace, name } of pods) this.#played.set(uid, { uid, namespace, name });
    this.#machine?.set(this.#source, pods);
    await this.clock.advance(0);
  }

  /** The manifests of these pods are deleted and written anew before anything else can happen. */
  async writtenAnew(...pods: readonly DesiredPod[]): Promise<void> {
    const others = this.#manifests.filter(({ uid }) => !pods.some((pod) => pod.uid === uid));
    this.#machine?.set(this.#source, others);
    await this.manifests(...others, ...pods);
  }

  status(uid: string): PodStatus | undefined {
    return this.#machine?.statuses.get(podUid(uid));
  }

  /** What was last told of a pod, also after the agent's end. */
  lastStatus(uid = 'uid-1'): PodStatus {
    return this.statusHistory.get(uid)?.at(-1) ?? {};
  }

  phase(uid = 'uid-1'): string | undefined {
    return this.status(uid)?.phase;
  }

  isReady(uid = 'uid-1'): boolean {
    return this.status(uid)?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  }

  /** Containers of the runtime in short: name#attempt state, oldest first. */
  containers(uid = 'uid-1'): string[] {
    return [...this.cri.state.containers.values()]
      .filter(({ config }) => config.labels['io.kubernetes.pod.uid'] === uid)
      .map(({ config, state }) => `${config.metadata?.name}#${config.metadata?.attempt} ${state}`);
  }

  /** Sandboxes of the runtime in short: #attempt state, oldest first. */
  sandboxes(uid = 'uid-1'): string[] {
    return [...this.cri.state.sandboxes.values()]
      .filter(({ config }) => config.metadata?.uid === uid)
      .map(({ config, state }) => `#${config.metadata?.attempt} ${state}`);
  }

  /** The mutating calls in order. */
  verbs(): string[] {
    const reading = /^(list|.*[sS]tatus$|version|runtimeConfig)/;
    return this.cri.calls.map(({ verb }) => verb).filter((verb) => !reading.test(verb));
  }

  eventReasons(): string[] {
    return this.events.map(({ reason }) => reason);
  }

  #remember(uid: string, status: PodStatus): void {
    const history = this.statusHistory.get(uid) ?? [];
    history.push(status);
    this.statusHistory.set(uid, history);
  }
}
