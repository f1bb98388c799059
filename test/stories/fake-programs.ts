import type { Behaviour, ExecOutcome, FakeContainer, LifeStep, OutputLine } from '../../src/testing/fake-cri/index.ts';
import type { AgentWorld } from '../support/agent-world.ts';
import { chatterLine, commandIn, finalFlushPath, type ContainerPlan, type Program } from './plan.ts';
import type { Mark } from './stage.ts';

/** What a fake pod and its stage share: what is turned on, and what was done. */
export class FakeFolder {
  readonly on = new Set<string>();
  readonly trail: Mark[] = [];
  readonly #waiting = new Map<string, () => void>();

  turn(name: string, on: boolean): void {
    if (!on) return void this.on.delete(name);
    this.on.add(name);
    this.#waiting.get(name)?.();
    this.#waiting.delete(name);
  }

  /** Calls once it is turned on; whoever waited before for the same does so no longer. */
  wait(name: string, onTurn: () => void): void {
    if (this.on.has(name)) onTurn();
    else this.#waiting.set(name, onTurn);
  }
}

/** One start of a container as the fake runtime plays it. */
export function fakeBehaviour(
  world: AgentWorld,
  plan: ContainerPlan,
  turn: number,
  folder: FakeFolder,
  self: () => FakeContainer,
): Behaviour {
  const program = plan.does[Math.min(turn, plan.does.length - 1)] ?? {};
  const { runs, exits = 0, onTerm = {} } = program;
  let asked = false;
  const told = (step: LifeStep): void => {
    folder.trail.push({ at: world.clock.monotonic() / 1_000, word: `${plan.name} ${step}` });
    if (step === 'starts') chatter(world, program, self().id);
    if (step === 'starts' && typeof runs === 'object') {
      folder.wait(runs.until, () => world.cri.killContainer(self().id, { code: exits }));
    }
    if (step === 'asked') asked = true;
    if (step === 'ends' && !asked) leaveWords(world, plan, program, self());
  };
  return {
    told,
    output: outputOf(program),
    ...(typeof runs === 'number' && { exit: { afterMs: runs * 1_000, code: exits } }),
    onTerm: onTerm === 'ignore' ? 'ignore' : { afterMs: (onTerm.after ?? 0) * 1_000, code: onTerm.exits ?? 0 },
  };
}

/** The runtime divides what has no line end for too long. */
const longestPart = 16 * 1_024;

function outputOf({ prints = [], complains = [], breaksOff }: Program): readonly OutputLine[] {
  const line = (stream: 'stdout' | 'stderr', text: string): readonly OutputLine[] => {
    const parts = text.match(new RegExp(`.{1,${longestPart}}`, 'gs')) ?? [''];
    return parts.map((part, index) => ({ stream, text: part, partial: index < parts.length - 1 }));
  };
  return [
    ...prints.flatMap((text) => line('stdout', text)),
    ...complains.flatMap((text) => line('stderr', text)),
    ...(breaksOff === undefined ? [] : [{ stream: 'stdout' as const, text: breaksOff }]),
  ];
}

function chatter({ clock, cri }: AgentWorld, { chatters }: Program, id: string): void {
  const { lines, times } = chatters ?? { lines: 0, times: 0 };
  for (let portion = 0; portion < times; portion++) {
    const texts = Array.from({ length: lines }, (_, index) => chatterLine(portion * lines + index));
    clock.after(portion * 1_000, () => {
      cri.say(id, ...texts.map((text) => ({ stream: 'stdout' as const, text })));
    });
  }
}

function leaveWords({ files }: AgentWorld, plan: ContainerPlan, { leaves }: Program, { config }: FakeContainer): void {
  if (leaves === undefined) return;
  const mount = config.mounts.find(({ containerPath }) => containerPath === finalFlushPath(plan));
  if (mount !== undefined) files.append(mount.hostPath, leaves);
}

/** How a command of a story ends; nothing for one of somebody else. */
export function fakeCommand(world: AgentWorld, words: readonly string[], folder: FakeFolder): ExecOutcome | undefined {
  const does = commandIn(words);
  if (does === undefined) return undefined;
  const { marks, takes = 0, prints, wants, exits = 0 } = does;
  if (marks !== undefined) folder.trail.push({ at: world.clock.monotonic() / 1_000, word: marks });
  return {
    takesMs: takes * 1_000,
    exitCode: wants === undefined || folder.on.has(wants) ? exits : 1,
    ...(prints !== undefined && { stdout: `${prints}\n` }),
  };
}
