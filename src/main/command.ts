/** What a subcommand may touch of the process that runs it; tests hand in their own. */
export interface CommandIo {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Standard output is a terminal that can redraw. */
  readonly isTerminal: boolean;
  /** Aborts on SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
}

/** A subcommand: the words behind its name in, an exit code out. */
export type Command = (args: readonly string[], io: CommandIo) => Promise<number>;
