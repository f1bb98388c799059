import { podUid } from '../../src/base/ids.ts';
import type { PodStatus } from '../../src/gen/kubernetes/types.ts';
import type { StandaloneObject } from '../../src/model/standalone-object.ts';
import type { DesiredPod } from '../../src/model/desired-pod.ts';
import type { PodEvent } from '../../src/model/object-event.ts';
import { manifestFolder, nodeName } from './agent-settings.ts';
import { WholeAgent, type WholeAgentOptions } from './whole-agent.ts';

type AgentWorldOptions = Omit<WholeAgentOptions, 'cluster'>;

const checkpointPath = '/var/lib/kubelet/pod_statuses_state';
/** A look at the folder follows a change after a millisecond. */
const lookMs = 2;

/** The whole agent on a node alone: pods are manifests of its folder, and keep the uid that a test gives them. */
export class AgentWorld {
  readonly agent: WholeAgent;
  readonly machine: WholeAgent['machine'];
  readonly clock: WholeAgent['clock'];
  readonly cri: WholeAgent['machine']['cri'];
  readonly files: WholeAgent['machine']['files'];
  readonly log: WholeAgent['log'];
  /** Pods of which nothing is left. */
  readonly gone: string[] = [];
  readonly statusHistory = new Map<string, PodStatus[]>();
  #isRunning = false;

  constructor(options: AgentWorldOptions = {}) {
    this.agent = new WholeAgent(options);
    this.machine = this.agent.machine;
    this.machine.capacity['cpu'] = '4';
    ({ clock: this.clock, cri: this.cri, files: this.files, log: this.log } = this.machine);
  }

  get views(): WholeAgent['views'] {
    return this.agent.views;
  }

  /** The loops of the agent that runs. */
  get heartbeats(): WholeAgent['heartbeats'] {
    return this.agent.heartbeats;
  }

  /** What this life of the agent decided. */
  get recorder(): WholeAgent['recorder'] {
    return this.agent.recorder;
  }

  /** Events of pods, as the log has them; pods have no node behind their names. */
  get events(): readonly (PodEvent & { readonly pod: string })[] {
    return this.log.entries.flatMap(({ message: line, fields }) => {
      if (line !== 'Event occurred' || fields['kind'] !== 'Pod') return [];
      const { object, type, reason, message } = fields as unknown as LoggedEvent;
      return [{ pod: ownName(object), type, reason, message }];
    });
  }

  async start(): Promise<void> {
    await this.agent.start();
    this.#isRunning = true;
    const { signals, stores } = this.views;
    signals.podRemoval.register('world', { forget: (uid) => void this.gone.push(uid), size: () => 0 });
    // What was told while it started is seen as it was in the end.
    for (const [uid, status] of stores.statuses.all()) this.#remember(uid, status);
    signals.statusChanged.listen((uid) => this.#remember(uid, stores.statuses.get(uid) ?? {}));
    await this.clock.advance(0);
  }

  /** Ends the agent in order; pods go on. Without its checkpoint the next one knows only what it sees. */
  async stop({ checkpoint = true }: { readonly checkpoint?: boolean } = {}): Promise<void> {
    this.#isRunning = false;
    await this.agent.stop();
    if (!checkpoint) await this.files.removeFile(checkpointPath);
  }

  /** From now on nothing the agent says arrives: it is dead, and only its last moments are played to the end. */
  async kill(): Promise<void> {
    this.#isRunning = false;
    await this.agent.kill();
  }

  /** These pods stand in the manifests folder from now on, and no others. */
  async manifests(...pods: readonly DesiredPod[]): Promise<void> {
    this.#write('pod', new Map(pods.map((pod) => [ownName(pod), manifestOf(pod)])));
    await this.clock.advance(lookMs);
  }

  /** These ConfigMaps and Secrets stand in the manifests folder from now on, and no others. */
  async objects(
    ...objects: readonly Pick<StandaloneObject, 'kind' | 'namespace' | 'name' | 'object'>[]
  ): Promise<void> {
    const texts = objects.map(({ kind, namespace, name, object }) => {
      const text = JSON.stringify({ apiVersion: 'v1', ...object, kind, metadata: { name, namespace } });
      return [`${kind}-${name}`, text] as const;
    });
    this.#write('object', new Map(texts));
    await this.clock.advance(lookMs);
  }

  /** The manifests of these pods are deleted and written anew before anything else can happen. */
  async writtenAnew(...pods: readonly DesiredPod[]): Promise<void> {
    const { manifests } = this.machine;
    for (const pod of pods) {
      const path = pathOf('pod', ownName(pod));
      manifests.remove(path);
      manifests.put(path, manifestOf(pod));
      // A file system tells of a new file by its entry first.
      manifests.emit(path, 'entry');
    }
    await this.clock.advance(lookMs);
  }

  status(uid: string): PodStatus | undefined {
    return this.#isRunning ? this.views.stores.statuses.get(podUid(uid)) : undefined;
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
    const reading = /^(list|.*[sS]tatus$|version|runtimeConfig|imageFsInfo|updateRuntimeConfig)/;
    return this.cri.calls.map(({ verb }) => verb).filter((verb) => !reading.test(verb));
  }

  eventReasons(): string[] {
    return this.events.map(({ reason }) => reason);
  }

  #write(kind: 'pod' | 'object', wanted: ReadonlyMap<string, string>): void {
    const { manifests } = this.machine;
    const paths = new Map([...wanted].map(([name, text]) => [pathOf(kind, name), text]));
    for (const path of manifests.texts.keys())
      if (path.startsWith(pathOf(kind)) && !paths.has(path)) manifests.remove(path);
    for (const [path, text] of paths) if (manifests.texts.get(path) !== text) manifests.put(path, text);
  }

  #remember(uid: string, status: PodStatus): void {
    const history = this.statusHistory.get(uid) ?? [];
    if (history.at(-1) === status) return;
    history.push(status);
    this.statusHistory.set(uid, history);
  }
}

interface LoggedEvent extends Pick<PodEvent, 'type' | 'reason' | 'message'> {
  readonly object: { readonly name: string };
}

const suffix = `-${nodeName}`;
/** The name of a static pod without that of its node. */
const ownName = ({ name }: { readonly name: string }): string =>
  name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;

function pathOf(kind: 'pod' | 'object', name?: string): string {
  return `${manifestFolder}/${kind}-${name === undefined ? '' : `${name}.json`}`;
}

/** A manifest of which the agent makes this very pod: it keeps a uid that is given. */
function manifestOf(pod: DesiredPod): string {
  const metadata = { ...pod.metadata, name: ownName(pod) };
  return JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec: pod.spec });
}
