import { podUid, type PodUid } from '../../src/base/ids.ts';
import { uidOfLogFolder } from '../../src/model/pod-paths.ts';
import { resyncMs } from './agent.ts';
import { AgentRules } from './agent-rules.ts';
import { BorderRules, idIn } from './border-rules.ts';
import { Ledger } from './ledger.ts';
import type { NodeWatch, SimNode } from './node.ts';
import { RuntimeRules } from './runtime-rules.ts';

const changing = /^(run|stop|remove|create|start|pull|writeFile)/;
const shown = /^(run|stop|remove|create|start|pull)/;
const ending = /^(stop|remove)/;
const mostCallsPerInstant = 5_000;
const podsFolder = '/var/lib/kubelet/pods/';
const logsFolder = '/var/log/pods/';

/** Watches a node: every call over the agent's border, every process start, and on request all there is. */
export class Monitor implements NodeWatch {
  readonly ledger: Ledger;
  readonly #node: SimNode;
  readonly #runtime: RuntimeRules;
  readonly #agent: AgentRules;
  readonly #border: BorderRules;
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
  }

  starting(uid: PodUid, name: string, attempt: number): void {
    this.ledger.look();
    this.#runtime.starting(uid, name, attempt);
  }

  leaving(verb: string, subject: unknown): void {
    this.#goesOn(verb);
    if (!changing.test(verb)) return;
    this.look();
    this.changes++;
    if (shown.test(verb)) this.#node.trail.note(`-> ${verb} ${this.#name(subject)}`);
    if (ending.test(verb) && !this.#node.agent.heard) {
      this.complain(`${verb} ${this.#name(subject)} before the sources have spoken`);
    }
    this.#border.leaving(verb, subject);
  }

  back(verb: string, subject: unknown, failure: string | undefined): void {
    if (changing.test(verb)) this.look();
    if (verb === 'containerStatus' && failure === undefined) this.ledger.seen(idIn(subject, 'containerId'));
    if (shown.test(verb) || failure !== undefined) {
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
    const isSyncing = this.#node.agent.machine?.workers.stateOf(uid)?.phase === 'syncing';
    if (operation === 'makeFolder' && isSyncing) this.#folders.set(path, life);
    if (operation === 'removeTree') this.#node.filesRemovedAt.set(uid, this.#node.now());
    if (operation !== 'removeTree' || !this.#node.isDesired(uid) || this.#folders.get(path) !== life) return;
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
