import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { TubeletError } from '../base/errors.ts';
import type { RunCommand } from './ports.ts';

const defaultTimeoutMs = 60_000;

/** Runs programs of this machine. */
export const runCommand: RunCommand = (program, args, options = {}) =>
  new Promise((resolve, reject) => {
    const child = execFile(
      program,
      [...args],
      {
        timeout: options.timeoutMs ?? defaultTimeoutMs,
        killSignal: 'SIGKILL',
        maxBuffer: 64 * 1024 * 1024,
        encoding: 'utf8',
        ...(options.signal === undefined ? {} : { signal: options.signal }),
        env: { ...process.env, LC_ALL: 'C', ...options.env },
      },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(commandError(program, args, error, stderr || stdout));
      },
    );
    // A program that ends before it has read its input breaks the pipe; its exit code shows what went wrong.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(options.input);
  });

function commandError(program: string, args: readonly string[], error: Error, output: string): Error {
  if (error.name === 'AbortError') return error;
  const said = output.trim().split('\n').slice(-3).join('; ');
  const text = `${basename(program)} ${args.slice(0, 6).join(' ')} failed${said === '' ? '' : `: ${said}`}`;
  return new TubeletError('internal', text, { cause: error });
}
