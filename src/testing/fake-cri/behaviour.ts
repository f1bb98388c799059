import type { ErrorKind } from '../../base/errors.ts';

/** What a process in a fake container does, from its start to its end. The default runs until it is told to stop. */
export interface Behaviour {
  /** The runtime cannot start it; the container ends as `StartError` without having run. */
  readonly startFailure?: Failure;
  /** Written to the log at the start. */
  readonly output?: readonly OutputLine[];
  /** Ends by itself. */
  readonly exit?: Exit;
  /** What SIGTERM does; by default it ends at once with 143. */
  readonly onTerm?: 'ignore' | Exit;
  /** Not even SIGKILL ends it: a process stuck in the kernel. */
  readonly unkillable?: boolean;
  /** Hears of its life: before the runtime knows of its end, so that it can leave something behind. */
  readonly told?: (what: LifeStep) => void;
}

/** A process starts, is asked to end, ends. */
export type LifeStep = 'starts' | 'asked' | 'ends';

export interface Exit {
  readonly afterMs: number;
  readonly code: number;
  /** As the runtime reports it, `OOMKilled` say; by default `Completed` or `Error`. */
  readonly reason?: string;
}

export interface OutputLine {
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
  /** Without a line end. */
  readonly partial?: boolean;
}

export interface Failure {
  readonly kind: ErrorKind;
  readonly message: string;
}

export const runsUntilStopped = (): Behaviour => ({});
export const exitAfter = (afterMs: number, code: number, reason?: string): Behaviour => ({
  exit: { afterMs, code, ...(reason === undefined ? {} : { reason }) },
});
export const oomAfter = (afterMs: number): Behaviour => exitAfter(afterMs, 137, 'OOMKilled');
export const ignoresTerm = (): Behaviour => ({ onTerm: 'ignore' });
export const stopsSlowly = (afterMs: number, code = 143): Behaviour => ({ onTerm: { afterMs, code } });
export const failsToStart = (message: string, kind: ErrorKind = 'internal'): Behaviour => ({
  startFailure: { kind, message },
});
/** Writes lines to stdout and then does what `next` says. */
export const says = (lines: readonly string[], next: Behaviour = {}): Behaviour => ({
  ...next,
  output: lines.map((text) => ({ stream: 'stdout', text })),
});

/** Of which start a behaviour is asked for. */
interface StartOf {
  readonly pod: string;
  readonly namespace: string;
  readonly container: string;
  readonly attempt: number;
  readonly image: string;
}

type BehaviourRule = (start: StartOf) => Behaviour;

/** The script of a test: which container does what. Container names go before images. */
export class FakePrograms {
  readonly #byContainer = new Map<string, BehaviourRule>();
  readonly #byImage = new Map<string, BehaviourRule>();
  #otherwise: BehaviourRule = runsUntilStopped;

  /** Each start takes the next of the behaviours; the last one stays. */
  forContainer(name: string, ...behaviours: readonly Behaviour[]): void {
    this.#byContainer.set(name, inTurn(behaviours));
  }

  forImage(image: string, ...behaviours: readonly Behaviour[]): void {
    this.#byImage.set(image, inTurn(behaviours));
  }

  otherwise(rule: BehaviourRule): void {
    this.#otherwise = rule;
  }

  of(start: StartOf): Behaviour {
    const rule = this.#byContainer.get(start.container) ?? this.#byImage.get(start.image) ?? this.#otherwise;
    return rule(start);
  }
}

function inTurn(behaviours: readonly Behaviour[]): BehaviourRule {
  let next = 0;
  return () => behaviours[Math.min(next++, behaviours.length - 1)] ?? {};
}
