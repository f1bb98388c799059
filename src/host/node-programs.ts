import { execFile } from 'node:child_process';
import { TubeletError } from '../base/errors.ts';
import type { ProgramResult } from '../model/program-calls.ts';

/** The directory of users may be remote; a lookup that hangs must not block its pod for ever. */
const timeoutMs = 10_000;

/** The programs on the agent's PATH, run without a shell. */
export const programsWithin = (timeout: number) => ({
  /** Runs a program to its end; undefined when the machine has no such program. */
  run: (program: string, args: readonly string[]): Promise<ProgramResult | undefined> =>
    new Promise((resolve, reject) => {
      const options = { encoding: 'utf8', timeout, killSignal: 'SIGKILL' } as const;
      execFile(program, [...args], options, (error, stdout, stderr) => {
        const code: unknown = error === null ? 0 : error.code;
        if (typeof code === 'number') resolve({ code, stdout, stderr });
        else if (code === 'ENOENT') resolve(undefined);
        else reject(new TubeletError('unavailable', `${program} did not end by itself`, { cause: error }));
      });
    }),
});

export const nodePrograms = programsWithin(timeoutMs);
