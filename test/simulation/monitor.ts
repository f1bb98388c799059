import { podUid, type PodUid } from '../../src/base/ids.ts';
import { uidOfLogFolder } from '../../src/model/pod-paths.ts';
import { isTerminalPhase } from '../../src/model/reasons.ts';
import type { FakeContainer } from '../../src/testing/fake-cri/index.ts';
import { resyncMs } from './agent.ts';
import { AgentRules } from './agent-rules.ts';
import { BorderRules, idIn } from './border-rules.ts';
import type { Inode } from './disk/inode.ts';
import type { MountRecord } from './disk/mount-table.ts';
import { ClusterRules } from './cluster-rules.ts';
import { Ledger } from './ledger.ts';
import { uidOf, type NodeWatch, type SimNode } from './node.ts';
import { RuntimeRules } from './runtime-rules.ts';
import { VolumeRules, type VolumeWorld } from './volume-rules.ts';

const changing = /^(run|stop|remove|create|start|pull|writeFile|mount|bind|unmount|release)/;
const writing = /^(POST|PUT|PATCH|DELETE)/;
const shown = /^(POST|PUT|PATCH|DELETE|run|stop|remove|create|start|pull|mount|bind|unmount|release|replaceLink)/;
const ending = /^(stop|remove|run umount|unmount|release)/;
const mostCallsPerInstant = 5_000;
const podsFolder = '/var/lib/kubelet/pods/';
const pluginsFolder = '/var/lib/kubelet/plugins/';
const logsFolder = '/var/log/pods/';

/** Watches a node: every call over the agent's border, every process start, and on request all there is. */
export class Monitor implements NodeWatch {
  readonly ledger: Ledger;
  readonly #node: SimNode;
  readonly #runtime: RuntimeRules;
  readonly #agent: AgentRules;
  readonly #border: BorderRules;
  readonly #cluster: ClusterRules;
  readonly #volumes: VolumeRules;
  /** Calls of the agent that change something, for the rule that a settled node is left alone. */
  changes = 0;
  /** Folder of a pod or its logs → life of the manifest that last needed it. */
  readonly #folders = new Map<string, number>();
  #broken: string | undefined;
  #instant = { at: 0, calls: 0 };

  constructor(node: SimNode) {
    this.#node = node;
    this.ledger = new Ledger(node);
    const complain = (rule: string): void => this.complain(rule);
    this.#runtime = new RuntimeRules(node, this.ledger, complain);
    this.#agent = new AgentRules(node, this.ledger, complain);
    this.#border = new BorderRules(node, this.ledger, complain);
    this.#cluster = new ClusterRules(node, this.ledger, complain);
    this.#volumes = new VolumeRules(this.#volumeWorld(node), complain);
  }

  /** The first rule that was broken. */
  get broken(): string | undefined {
    return this.#broken;
  }

  complain(rule: string): void {
    if (this.#broken !== undefined) return;
    this.#broken = rule;
    this.#node.trail.note(`!! ${rule}`);
  }

  look(): void {
    this.ledger.look();
    this.#runtime.look();
    this.#agent.look();
    this.#cluster.look();
  }

  starting(uid: PodUid, name: string, attempt: number): void {
    this.ledger.look();
    this.#runtime.starting(uid, name, attempt);
    const plan = this.#node.plans.get(uid);
    const container = this.#node
      .containersOf(uid)
      .find(
        ({ config: { metadata }, state }) =>
          state === 'created' && metadata?.name === name && metadata.attempt === attempt,
      );
    if (plan === undefined || container === undefined) return;
    const { id, config } = container;
    const life = this.ledger.containers.get(id)?.life ?? 0;
    const group = plan.pod.spec.securityContext?.fsGroup;
    this.#volumes.starting(plan, life, { id, name: container.name, mounts: config.mounts, group });
  }

  died(): void {
    this.#volumes.inspect(`after the death of agent ${this.#node.agent.lives}`);
  }

  settled(): void {
    this.#volumes.inspect('on the settled node');
  }

  rebooted(): void {
    this.#volumes.rebooted();
  }

  removed(inode: Inode, path: string): void {
    this.#volumes.removed(inode, path);
  }

  mounted(mount: MountRecord): void {
    this.#volumes.mounted(mount);
  }

  unmounted(mount: MountRecord): void {
    this.#volumes.unmounted(mount);
  }

  crossing(path: string, mount: MountRecord): void {
    this.#volumes.crossing(path, mount);
  }

  leaving(verb: string, subject: unknown): void {
    this.#goesOn(verb);
    if (!changing.test(verb)) return;
    this.look();
    this.changes++;
    if (shown.test(verb)) this.#node.trail.note(`-> ${verb} ${this.#name(subject)}`);
    // What was staged for all pods and none of them has any more may go at once.
    const isOfPods = !String(subject).startsWith(pluginsFolder);
    if (ending.test(verb) && isOfPods && this.#node.agent.heardAt === undefined && !this.#isNamed(subject)) {
      this.complain(`${verb} ${this.#name(subject)} before the sources have spoken`);
    }
    this.#border.leaving(verb, subject);
  }

  back(verb: string, subject: unknown, failure: string | undefined): void {
    if (changing.test(verb) || writing.test(verb)) this.look();
    if (verb === 'containerStatus' && failure === undefined) this.ledger.seen(idIn(subject, 'containerId'));
    if (shown.test(verb) || (failure !== undefined && verb !== 'readText')) {
      this.#node.trail.note(`<- ${verb} ${this.#name(subject)}${failure === undefined ? '' : `: ${failure}`}`);
    }
  }

  /**
   * Something is about to happen on the disk. A pod that came back under its uid may lose the folders of its former life,
   * never those that were made or used since.
   */
  disk(operation: string, path: string): void {
    const inPods = path.startsWith(podsFolder) ? path.slice(podsFolder.length) : undefined;
    const inLogs = path.startsWith(logsFolder) ? uidOfLogFolder(path.slice(logsFolder.length)) : undefined;
    const uid = podUid(inPods ?? inLogs ?? '');
    const life = this.ledger.lifeOf(uid);
    const isSyncing = this.#node.agent.stores?.lifecycles.stateOf(uid)?.phase === 'syncing';
    if (operation === 'makeFolder' && isSyncing) this.#folders.set(path, life);
    if (operation === 'removeTree') this.#node.troubles.filesRemovedAt.set(uid, this.#node.now());
    if (operation !== 'removeTree' || !this.#node.mayRun(uid) || this.#folders.get(path) !== life) return;
    this.complain(`${path} is removed while the manifest of ${uid} is there`);
  }

  /** Work takes time. An agent that goes round and round within one instant would never let the run end, so it dies. */
  #goesOn(verb: string): void {
    const now = this.#node.now();
    this.#instant = { at: now, calls: this.#instant.at === now ? this.#instant.calls + 1 : 1 };
    if (this.#instant.calls < mostCallsPerInstant) return;
    this.complain(`the agent goes round in circles: ${this.#instant.calls} calls without time going on, now ${verb}`);
    this.#node.agent.kill('cut', resyncMs);
  }

  #volumeWorld(node: SimNode): VolumeWorld {
    const running = (): readonly FakeContainer[] =>
      [...node.cri.state.containers.values()].filter(({ state }) => state === 'running');
    return {
      disk: node.disk,
      storage: node.storage,
      running,
      isNeeded: ({ uid, life }) => {
        if (running().some((container) => uidOf(container) === uid)) return true;
        if (!node.mayRun(uid) || this.ledger.lifeOf(uid) !== life) return false;
        const phase = node.agent.stores?.lifecycles.stateOf(uid)?.phase;
        const isLeaving = phase === 'terminating' || phase === 'terminated' || phase === 'finished';
        return !isLeaving && !isTerminalPhase(node.agent.stores?.statuses.get(uid)?.phase);
      },
    };
  }

  /** Whether a source of this life of the agent has named the pod that a call is about. */
  #isNamed(subject: unknown): boolean {
    const uid =
      typeof subject === 'string'
        ? podUid(subject.startsWith(podsFolder) ? (subject.slice(podsFolder.length).split('/')[0] ?? '') : '')
        : (this.ledger.containers.get(idIn(subject, 'containerId'))?.uid ??
          this.ledger.sandboxes.get(idIn(subject, 'podSandboxId'))?.uid);
    const { stores } = this.#node.agent;
    if (uid === undefined || stores === undefined) return false;
    const worker = stores.lifecycles.stateOf(uid);
    const isOrphan = worker !== undefined && 'target' in worker && worker.target.kind === 'orphan';
    return stores.desired.has(uid) || (worker !== undefined && !isOrphan);
  }

  /** Ids in the words of the plans. */
  #name(subject: unknown): string {
    if (typeof subject !== 'object' || subject === null) return String(subject);
    const container = this.ledger.containers.get(idIn(subject, 'containerId'));
    if (container !== undefined) return `${container.uid} ${container.name}#${container.attempt}`;
    const { config } = subject as { config?: { metadata?: { name: string; uid?: string; attempt: number } } };
    const sandboxId = idIn(subject, 'podSandboxId');
    const made =
      config?.metadata === undefined ? '' : `${config.metadata.uid ?? config.metadata.name}#${config.metadata.attempt}`;
    const sandbox = this.#node.cri.state.sandboxes.get(sandboxId)?.config.metadata;
    const within = sandbox === undefined ? '' : `${sandbox.uid} sandbox#${sandbox.attempt}`;
    return [within, made].filter((part) => part !== '').join(' ');
  }
}
