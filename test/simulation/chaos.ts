import type { UnaryVerb } from '../../src/cri/index.ts';
import type { ErrorKind } from '../../src/base/errors.ts';
import type { Dice } from './dice.ts';
import type { Ledger } from './ledger.ts';
import { longestDelayMs, requestMs, uidOf, type SimNode } from './node.ts';
import { planPod, withOtherImages, type PodPlan } from './pod-plans.ts';

const weights = {
  nothing: 2,
  addPod: 10,
  changePod: 4,
  removePod: 6,
  bringBack: 4,
  addApiPod: 8,
  deleteApiPod: 6,
  updateApiPod: 2,
  tellAgain: 2,
  removeOutside: 2,
  killContainer: 5,
  killSandbox: 2,
  failBefore: 5,
  failAfter: 6,
  delay: 4,
  hang: 3,
  loseEvents: 2,
  doubleEvents: 1,
  lateEvents: 1,
  runtimeCrash: 2,
  reboot: 1,
  fullDisk: 2,
  slowDisk: 3,
  deafRuntime: 3,
  stopAgent: 2,
  killAgent: 3,
  lightFuse: 5,
  setWall: 2,
  evict: 1,
};
export type StepName = keyof typeof weights;

const verbs: readonly UnaryVerb[] = [
  'runPodSandbox',
  'stopPodSandbox',
  'removePodSandbox',
  'podSandboxStatus',
  'listPodSandbox',
  'createContainer',
  'startContainer',
  'stopContainer',
  'removeContainer',
  'listContainers',
  'containerStatus',
  'imageStatus',
  'pullImage',
];
const kinds: readonly ErrorKind[] = ['unavailable', 'internal', 'timeout', 'exhausted'];
const names = { file: ['web', 'db', 'job'], api: ['front', 'back', 'batch'] } as const;
type Source = keyof typeof names;
/** A worker that failed looks again within 15 s; a stop that hangs ends with its grace and its deadline. */
const retryMs = 16_000;
const longestGraceMs = 30_000;

/** The hand that shakes the node: one step at a time, each chosen and measured by the dice. */
export class Chaos {
  readonly #node: SimNode;
  readonly #ledger: Ledger;
  readonly #dice: Dice;
  readonly #versions = new Map<string, number>();

  constructor(node: SimNode, ledger: Ledger, dice: Dice) {
    this.#node = node;
    this.#ledger = ledger;
    this.#dice = dice;
  }

  step(): void {
    const name = this.#dice.weighted(weights);
    const told = this[name]();
    if (told !== undefined) this.#node.trail.note(`** ${name} ${told}`);
  }

  nothing(): string | undefined {
    return undefined;
  }

  addPod(): string | undefined {
    return this.#add('file');
  }

  addApiPod(): string | undefined {
    return this.#add('api');
  }

  changePod(): string | undefined {
    const plan = this.#dice.maybePick(this.#plansOf('file'));
    return plan === undefined ? undefined : this.#put(this.#newVersion(plan.name, 'file'));
  }

  /** A file goes; of an API pod it is the deletion by force. */
  removePod(): string | undefined {
    const plan = this.#dice.maybePick([...this.#node.manifests.values()]);
    return plan === undefined ? undefined : this.remove(plan);
  }

  deleteApiPod(): string | undefined {
    const plan = this.#dice.maybePick(this.#plansOf('api'));
    return plan && this.delete(plan, this.#dice.pick([plan.graceSeconds, plan.graceSeconds, 0, 1, 10, 40]));
  }

  /** Asks for the end of an API pod. The agent stops it, and the API server lets it go when nothing of it runs. */
  delete(plan: PodPlan, graceSeconds = plan.graceSeconds): string {
    const { api, clock, agent } = this.#node;
    const isFirst = api.deletionOf(plan.uid) === undefined;
    api.delete(plan.uid, graceSeconds, { wallMs: clock.now(), monotonicMs: clock.monotonic() });
    agent.tell();
    if (isFirst) this.#awaitEnd(plan);
    return `${plan.uid} within ${graceSeconds} s`;
  }

  /** Another image: the containers are replaced in place. */
  updateApiPod(): string | undefined {
    const plan = this.#dice.maybePick(this.#plansOf('api').filter(({ restartPolicy }) => restartPolicy === 'Always'));
    if (plan === undefined) return undefined;
    const updated = withOtherImages(plan, this.#dice);
    this.#node.plans.set(plan.uid, updated);
    this.#node.manifests.set(plan.name, updated);
    this.#node.agent.tell();
    return plan.uid;
  }

  /** The sources say it all again, with the statuses that have reached the API server. */
  tellAgain(): string {
    this.#node.agent.tell();
    return '';
  }

  /** Somebody removes a container or a sandbox behind the agent's back. */
  removeOutside(): string | undefined {
    const { cri, plans } = this.#node;
    const container = this.#dice.maybePick(
      [...cri.state.containers.values()].filter((other) => plans.get(uidOf(other))?.restartPolicy === 'Always'),
    );
    if (container === undefined) return undefined;
    this.#node.tampered.add(uidOf(container));
    const whole = this.#dice.chance(0.4);
    const removal = whole
      ? cri.removePodSandbox({ podSandboxId: container.sandboxId })
      : cri.removeContainer({ containerId: container.id });
    removal.catch(() => this.#node.trail.note('that failed'));
    return whole ? `the sandbox of ${container.name}` : container.name;
  }

  /** A version that was there before: the same uid again. */
  bringBack(): string | undefined {
    const files = [...this.#node.plans.values()].filter(({ pod }) => pod.source === 'file');
    const gone = files.filter(({ uid }) => !this.#node.isDesired(uid));
    const plan = this.#dice.maybePick(gone.slice(-3));
    return plan === undefined ? undefined : this.#put(plan);
  }

  remove(plan: PodPlan): string {
    this.#node.manifests.delete(plan.name);
    this.#ledger.manifestRemoved(plan.uid);
    this.#node.agent.tell();
    return plan.uid;
  }

  killContainer(): string | undefined {
    const { cri } = this.#node;
    const running = [...cri.state.containers.values()].filter(({ state }) => state === 'running');
    const container = this.#dice.maybePick(running);
    if (container === undefined) return undefined;
    const code = this.#dice.pick([137, 137, 0, 1]);
    cri.killContainer(container.id, { code });
    return `${container.name} with ${code}`;
  }

  killSandbox(): string | undefined {
    const { cri } = this.#node;
    const sandbox = this.#dice.maybePick([...cri.state.sandboxes.values()].filter(({ state }) => state === 'ready'));
    if (sandbox === undefined) return undefined;
    cri.killSandbox(sandbox.id);
    return sandbox.name;
  }

  failBefore(): string {
    return this.#fail(false);
  }

  failAfter(): string {
    return this.#fail(true);
  }

  delay(): string {
    const verb = this.#dice.pick(verbs);
    const ms = this.#dice.whole(1, longestDelayMs);
    this.#node.cri.faults.delay(verb, ms, { times: this.#dice.whole(1, 6) });
    return `${verb} by ${ms} ms, ${this.#verbTrouble(verb, ms + retryMs)}`;
  }

  /** Not pulls: they have no deadline here, because the runtime has one of its own that knows of progress. */
  hang(): string {
    const verb = this.#dice.pick(verbs.filter((other) => other !== 'pullImage'));
    this.#node.cri.faults.hang(verb, { times: this.#dice.whole(1, 2) });
    return `${verb}, ${this.#verbTrouble(verb, 2 * requestMs + longestGraceMs + retryMs)}`;
  }

  loseEvents(): string {
    const { events } = this.#node.cri;
    const lastsMs = this.#dice.whole(1_000, 60_000);
    events.loseNext(Number.POSITIVE_INFINITY);
    // The relist sees what the events did not tell, so nobody is excused.
    this.#node.trouble(lastsMs, -lastsMs, () => events.loseNext(0));
    return `for ${lastsMs} ms`;
  }

  doubleEvents(): string {
    this.#node.cri.events.duplicateNext(this.#dice.whole(1, 20));
    return '';
  }

  lateEvents(): string {
    const { events } = this.#node.cri;
    const [lateMs, lastsMs] = [this.#dice.whole(1, 5_000), this.#dice.whole(1_000, 60_000)];
    events.delay(lateMs);
    this.#node.trouble(lastsMs, -lastsMs, () => events.delay(0));
    return `by ${lateMs} ms for ${lastsMs} ms`;
  }

  runtimeCrash(): string {
    const { cri } = this.#node;
    const lastsMs = this.#dice.whole(10, 20_000);
    cri.crash();
    this.#node.trouble(lastsMs, retryMs, () => cri.restart());
    return `for ${lastsMs} ms`;
  }

  /** The agent dies with the machine. */
  reboot(): string {
    const downMs = this.#dice.whole(100, 20_000);
    this.#node.agent.kill('cut', downMs, this.#dice.pick([0, 0, 3_000]));
    this.#node.cri.reboot();
    return `back in ${downMs} ms`;
  }

  fullDisk(): string {
    const lastsMs = this.#dice.whole(100, 30_000);
    const operations = this.#dice.pick([
      ['makeFolder', 'writeFile'],
      ['writeFile'],
      ['removeTree'],
      ['makeFolder', 'writeFile', 'removeTree', 'removeCgroup'],
    ]);
    this.#node.diskFails(operations);
    this.#node.trouble(lastsMs, retryMs, () => this.#node.diskWorks());
    return `${operations.join(', ')} fail for ${lastsMs} ms`;
  }

  /** Calls that are given up are done all the same, once the runtime comes to it. */
  deafRuntime(): string {
    const lastsMs = this.#dice.whole(1_000, 40_000);
    this.#node.deafUntil = this.#node.now() + lastsMs;
    this.#node.trouble(lastsMs, longestDelayMs + retryMs, () => {
      this.#node.deafUntil = Math.min(this.#node.deafUntil, this.#node.now());
    });
    const verb = this.#dice.pick(verbs);
    this.#node.cri.faults.delay(verb, this.#dice.whole(1, longestDelayMs), { times: this.#dice.whole(1, 6) });
    return `for ${lastsMs} ms; ${verb} is slow, ${this.#verbTrouble(verb, longestDelayMs + retryMs)}`;
  }

  slowDisk(): string {
    const [mostMs, lastsMs] = [this.#dice.pick([5, 200, 3_000]), this.#dice.whole(1_000, 60_000)];
    this.#node.diskDelayMs = () => this.#dice.whole(0, mostMs);
    this.#node.trouble(lastsMs, 10 * mostMs, () => {
      this.#node.diskDelayMs = () => 0;
    });
    return `up to ${mostMs} ms for ${lastsMs} ms`;
  }

  stopAgent(): string | undefined {
    if (this.#node.agent.state !== 'up') return undefined;
    const downMs = this.#dice.whole(0, 20_000);
    this.#node.agent.stop(downMs);
    return `for ${downMs} ms`;
  }

  killAgent(): string | undefined {
    if (this.#node.agent.state === 'down') return undefined;
    const downMs = this.#dice.whole(0, 20_000);
    const how = this.#dice.pick(['cut', 'linger'] as const);
    if (how === 'linger') this.#node.becomesLate();
    this.#node.agent.kill(how, downMs, this.#dice.pick([0, 0, 5_000]));
    return `for ${downMs} ms`;
  }

  lightFuse(): string | undefined {
    const calls = this.#dice.whole(1, 40);
    const at = this.#dice.pick(['before', 'after'] as const);
    this.#node.agent.life?.lightFuse(calls, at);
    return `${at} call ${calls}`;
  }

  setWall(): string {
    const { clock } = this.#node;
    const byMs = this.#dice.pick([-7_200_000, -600_000, -30_000, 30_000, 600_000, 86_400_000]);
    clock.setWall(clock.now() + byMs);
    return `by ${byMs / 1_000} s`;
  }

  evict(): string | undefined {
    const { machine } = this.#node.agent;
    const plan = this.#dice.maybePick([...this.#node.manifests.values()]);
    if (machine === undefined || plan === undefined || this.#node.agent.spokenAt === undefined) return undefined;
    const graceSeconds = this.#dice.pick([0, 1, 10]);
    machine.workers.terminate(plan.uid, { graceSeconds, decided: { reason: 'Evicted', message: 'The node was low' } });
    return plan.uid;
  }

  #plansOf(source: Source): PodPlan[] {
    return [...this.#node.manifests.values()].filter(({ pod }) => pod.source === source);
  }

  #add(source: Source): string | undefined {
    const name = this.#dice.maybePick(names[source].filter((free) => !this.#node.manifests.has(free)));
    return name === undefined ? undefined : this.#put(this.#newVersion(name, source));
  }

  #awaitEnd(plan: PodPlan): void {
    const { agent, clock } = this.#node;
    clock.after(1_000, () => {
      if (!this.#node.isDesired(plan.uid)) return;
      if (agent.machine?.workers.isFinished(plan.uid) === true) this.#node.trail.note(`** gone ${this.remove(plan)}`);
      else this.#awaitEnd(plan);
    });
  }

  #newVersion(name: string, source: Source): PodPlan {
    const version = (this.#versions.get(name) ?? 0) + 1;
    this.#versions.set(name, version);
    const plan = planPod(this.#dice, name, version, source);
    this.#node.plans.set(plan.uid, plan);
    return plan;
  }

  #put(plan: PodPlan): string {
    const before = this.#node.manifests.get(plan.name);
    if (before !== undefined) this.#ledger.manifestRemoved(before.uid);
    this.#node.manifests.set(plan.name, plan);
    this.#ledger.manifestAdded(plan.uid);
    this.#node.agent.tell();
    const containers = plan.containers.map(({ name, temper }) => `${name} ${temper}`).join(', ');
    return `${plan.uid} (${plan.restartPolicy}, grace ${plan.graceSeconds} s: ${containers})`;
  }

  #fail(afterwards: boolean): string {
    const verb = this.#dice.pick(verbs);
    const kind = this.#dice.pick(kinds);
    const times = this.#dice.pick([1, 1, 2, 5, Number.POSITIVE_INFINITY]);
    this.#node.cri.faults.fail(verb, kind, { times, afterwards });
    return `${verb} as ${kind} ${times} times, ${this.#verbTrouble(verb, retryMs)}`;
  }

  #verbTrouble(verb: UnaryVerb, echoMs: number): string {
    const lastsMs = this.#dice.whole(100, 30_000);
    this.#node.trouble(lastsMs, echoMs, () => this.#node.cri.faults.clear(verb));
    return `for ${lastsMs} ms at most`;
  }
}
