import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { raceAbort } from '../base/abort.ts';

interface JournalRunnerOptions {
  /** The agent's own; the program is found by its PATH. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly program?: string;
}

type HostProgramEnd = { readonly kind: 'ended' } | { readonly kind: 'notStarted'; readonly why: string };

interface HostJournalRunner {
  run(
    args: readonly string[],
    output: (chunk: Uint8Array) => Promise<void>,
    signal: AbortSignal,
  ): Promise<HostProgramEnd>;
}

/**
 * journalctl as a program of this machine, without a shell and with nothing on its standard input. It sees UTC, so that
 * times in its arguments are those of the query and not of the node's time zone. Output is read as fast as the client
 * takes it.
 */
export function journalRunner({ environment, program = 'journalctl' }: JournalRunnerOptions): HostJournalRunner {
  return {
    async run(args, output, signal) {
      signal.throwIfAborted();
      const env = { ...environment, TZ: 'UTC', LC_ALL: 'C', SYSTEMD_PAGER: '', SYSTEMD_COLORS: '0' };
      const child = spawn(program, [...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
      // A program that hangs in the kernel does not end when it is killed, and a child of it may hold its outputs open,
      // so nothing more is read from them.
      const kill = (): void => {
        child.kill('SIGKILL');
        child.stdout.destroy();
        child.stderr.destroy();
      };
      // A kill may fail as well; the exit of the program is reported by its own event.
      child.on('error', () => {});
      const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
      signal.addEventListener('abort', kill, { once: true });
      try {
        await once(child, 'spawn');
      } catch (error) {
        signal.removeEventListener('abort', kill);
        return { kind: 'notStarted', why: error instanceof Error ? error.message : String(error) };
      }
      try {
        // One chunk at a time, from whichever output has one first, so that lines stay whole as far as they come whole.
        let turn: Promise<void> = Promise.resolve();
        const inTurn = (chunk: Uint8Array): Promise<void> => (turn = turn.then(() => output(chunk)));
        await Promise.all([copy(child.stdout, inTurn), copy(child.stderr, inTurn)]);
        await raceAbort(closed, signal);
        return { kind: 'ended' };
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      } finally {
        signal.removeEventListener('abort', kill);
        kill();
      }
    },
  };
}

async function copy(from: Readable, output: (chunk: Uint8Array) => Promise<void>): Promise<void> {
  for await (const chunk of from) await output(chunk as Uint8Array);
}
