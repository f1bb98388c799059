import type { Pod } from '../gen/kubernetes/types.ts';

/** Runs a program without a shell and answers its standard output; rejects with the end of its standard error. */
export type RunCommand = (program: string, args: readonly string[], options?: RunOptions) => Promise<string>;

interface RunOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Written to standard input. */
  readonly input?: string | Buffer;
}

/** Reports progress to the user: one line per step. */
export interface Steps {
  note(text: string): void;
  step<Result>(title: string, work: (progress: (text: string) => void) => Promise<Result>): Promise<Result>;
}

/** Shows the pods repeatedly. */
export interface PodDisplay {
  /** `footer` goes below the pods where there is room for it. */
  show(pods: readonly Pod[], footer: readonly string[]): void;
  say(line: string): void;
}
