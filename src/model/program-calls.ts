import type { Masked } from '../base/masked.ts';

/** How a program ended, and what it printed. */
export interface ProgramResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** One run of a credential provider plugin. */
export interface PluginCall {
  readonly file: string;
  readonly args: readonly string[];
  /** In addition to the agent's own environment. */
  readonly environment: Masked<Readonly<Record<string, string>>>;
  readonly input: Masked<string>;
  readonly signal: AbortSignal;
}
