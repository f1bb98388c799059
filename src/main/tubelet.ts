// The entry of the program. It loads almost nothing itself, so that `--version` answers at once.
import './no-inspector.ts';
import { systemClock } from '../base/system-clock.ts';
import type { Command, CommandIo } from './command.ts';
import { exitAfterFlush } from './exit-after-flush.ts';
import { onSignals } from './signals.ts';

declare const TUBELET_VERSION: string;

/** Subcommands by their first word; each is loaded when it is used. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  up: async () => (await import('./commands/up.ts')).up,
  down: async () => (await import('./commands/down.ts')).down,
  shutdown: async () => (await import('./commands/shutdown.ts')).shutdown,
  config: async () => (await import('./commands/config.ts')).configCommand,
  help: async () => (await import('./commands/help.ts')).help,
};

/** With flags only it is the node agent; with a first word it is a subcommand. */
async function chosen(words: readonly string[]): Promise<readonly [Command, readonly string[]]> {
  const [first, ...rest] = words;
  if (first === undefined || first.startsWith('-')) {
    return [(await import('./commands/kubelet.ts')).kubelet(TUBELET_VERSION), words];
  }
  const load = Object.hasOwn(commands, first) ? commands[first] : undefined;
  if (load !== undefined) return [await load(), rest];
  return [(await import('./commands/help.ts')).unknownCommand(first, Object.keys(commands)), rest];
}

const io: CommandIo = {
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
  env: process.env,
  isTerminal: process.stdout.isTTY,
  signal: onSignals(process, systemClock(), () => process.exit(1)),
};
const [command, args] = await chosen(process.argv.slice(2));
await exitAfterFlush(await command(args, io), [process.stdout, process.stderr], systemClock(), (code) =>
  process.exit(code),
);
