/** What a subcommand may use of the process that runs it; tests pass their own. */
export interface CommandIo {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Standard output is a terminal that can redraw. */
  readonly isTerminal: boolean;
  /** Aborts on SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
}

/** A subcommand: gets the words behind its name, answers an exit code. */
export type Command = (args: readonly string[], io: CommandIo) => Promise<number>;
