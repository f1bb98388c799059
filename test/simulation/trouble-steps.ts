import type { ErrorKind } from '../../src/base/errors.ts';
import type { UnaryVerb } from '../../src/cri/index.ts';
import type { Dice } from './dice.ts';
import { driverVerbs } from './sim-driver.ts';
import { requestMs, uidOf, type SimNode } from './node.ts';
import { longestDelayMs } from './troubles.ts';

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
/** A worker that failed looks again within 15 s; a stop that hangs ends with its grace and its deadline. */
const retryMs = 16_000;
const longestGraceMs = 30_000;
/** A volume that failed is tried again within about two minutes. */
const driverRetryMs = 125_000;

/** What goes wrong: with the runtime, the disk, the clock and the agent itself. */
export class TroubleSteps {
  readonly #node: SimNode;
  readonly #dice: Dice;

  constructor(node: SimNode, dice: Dice) {
    this.#node = node;
    this.#dice = dice;
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
    this.#node.troubles.begin(lastsMs, -lastsMs, () => events.loseNext(0));
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
    this.#node.troubles.begin(lastsMs, -lastsMs, () => events.delay(0));
    return `by ${lateMs} ms for ${lastsMs} ms`;
  }

  runtimeCrash(): string {
    const { cri } = this.#node;
    const lastsMs = this.#dice.whole(10, 20_000);
    cri.crash();
    this.#node.troubles.begin(lastsMs, retryMs, () => cri.restart());
    return `for ${lastsMs} ms`;
  }

  /** The agent dies with the machine. */
  reboot(): string {
    const downMs = this.#dice.whole(100, 20_000);
    this.#node.reboot(downMs);
    return `back in ${downMs} ms`;
  }

  fullDisk(): string {
    const lastsMs = this.#dice.whole(100, 30_000);
    const operations = this.#dice.pick([
      ['makeFolder', 'writeFile'],
      ['writeFile'],
      ['removeTree'],
      ['unmount', 'run umount'],
      ['mount', 'bind', 'run mount'],
      ['makeContentFolder', 'writeContent', 'replaceLink'],
      ['makeFolder', 'writeFile', 'removeTree', 'removeCgroup'],
    ]);
    this.#node.diskFails(operations);
    this.#node.troubles.begin(lastsMs, retryMs, () => this.#node.diskWorks());
    return `${operations.join(', ')} fail for ${lastsMs} ms`;
  }

  /** Calls that are given up are done all the same, once the runtime comes to it. */
  deafRuntime(): string {
    const lastsMs = this.#dice.whole(1_000, 40_000);
    this.#node.troubles.deafUntil = this.#node.now() + lastsMs;
    this.#node.troubles.begin(lastsMs, longestDelayMs + retryMs, () => {
      this.#node.troubles.deafUntil = Math.min(this.#node.troubles.deafUntil, this.#node.now());
    });
    const verb = this.#dice.pick(verbs);
    this.#node.cri.faults.delay(verb, this.#dice.whole(1, longestDelayMs), { times: this.#dice.whole(1, 6) });
    return `for ${lastsMs} ms; ${verb} is slow, ${this.#verbTrouble(verb, longestDelayMs + retryMs)}`;
  }

  slowDisk(): string {
    const [mostMs, lastsMs] = [this.#dice.pick([5, 200, 3_000]), this.#dice.whole(1_000, 60_000)];
    this.#node.diskDelayMs = () => this.#dice.whole(0, mostMs);
    this.#node.troubles.begin(lastsMs, 10 * mostMs, () => {
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
    if (how === 'linger') this.#node.troubles.becomesLate();
    this.#node.agent.kill(how, downMs);
    return `for ${downMs} ms`;
  }

  lightFuse(): string | undefined {
    const calls = this.#dice.whole(1, 40);
    const at = this.#dice.pick(['before', 'after'] as const);
    this.#node.agent.life?.lightFuse(calls, at);
    return `${at} call ${calls}`;
  }

  /** In the middle of what volumes and pods' files are made of. */
  lightStepFuse(): string | undefined {
    const steps = this.#dice.whole(1, 150);
    const at = this.#dice.pick(['before', 'after'] as const);
    this.#node.agent.life?.lightFuse(steps, at, 'steps');
    return `${at} step ${steps}`;
  }

  /** A storage driver refuses, answers late or never, or does what it is asked and its answer is lost. */
  driverFails(): string {
    const { fake } = this.#node.driver;
    const verb = this.#dice.pick(driverVerbs);
    const how = this.#dice.pick(['refuses', 'is cut off', 'is slow', 'hangs'] as const);
    const code = this.#dice.pick(['UNAVAILABLE', 'INTERNAL', 'DEADLINE_EXCEEDED', 'ABORTED'] as const);
    const times = this.#dice.whole(1, 4);
    if (how === 'refuses') fake.fail(verb, { code, times });
    if (how === 'is cut off') fake.fail(verb, { code: 'UNAVAILABLE', times, afterwards: true });
    if (how === 'is slow') fake.slow(verb, this.#dice.whole(1, longestDelayMs));
    if (how === 'hangs') fake.hang(verb);
    const lastsMs = this.#dice.whole(1_000, 60_000);
    this.#node.troubles.begin(lastsMs, driverRetryMs, () => fake.heal());
    return `${verb} ${how} (${code}) for ${lastsMs} ms`;
  }

  driverGoes(): string {
    const { driver } = this.#node;
    const lastsMs = this.#dice.whole(1_000, 60_000);
    driver.go();
    this.#node.troubles.begin(lastsMs, driverRetryMs, () => driver.come());
    return `for ${lastsMs} ms`;
  }

  setWall(): string {
    const { clock } = this.#node;
    const byMs = this.#dice.pick([-7_200_000, -600_000, -30_000, 30_000, 600_000, 86_400_000]);
    clock.setWall(clock.now() + byMs);
    this.#node.wallSetAt = this.#node.now();
    return `by ${byMs / 1_000} s`;
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
    this.#node.troubles.begin(lastsMs, echoMs, () => this.#node.cri.faults.clear(verb));
    return `for ${lastsMs} ms at most`;
  }
}
