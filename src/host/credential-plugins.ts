import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, readdir, readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path/posix';
import { withTimeout } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { kindOf, TubeletError } from '../base/errors.ts';
import type { PluginCall } from '../model/program-calls.ts';

/** Leaves a plugin time to retry by itself, and stops a plugin that hangs from blocking pulls for ever. */
const timeoutMs = 60_000;
const maxOutputBytes = 1 << 20;
const maxErrorText = 400;

interface PluginRunnerDeps {
  readonly clock: Clock;
  /** The agent's own; plugins need its PATH, HOME and proxies. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Credential plugins as programs of this machine: the request on standard input, the answer on standard output, no
 * shell.
 */
export function pluginRunner({ clock, environment }: PluginRunnerDeps): { run(call: PluginCall): Promise<string> } {
  return {
    async run(call) {
      try {
        return await withTimeout(clock, timeoutMs, (signal) => runOnce(call, environment, signal), call.signal);
      } catch (error) {
        if (kindOf(error) !== 'timeout') throw error;
        const name = basename(call.file);
        throw new TubeletError('timeout', `${name} did not answer within ${timeoutMs / 1_000} s and was killed`);
      }
    },
  };
}

function runOnce(call: PluginCall, environment: PluginRunnerDeps['environment'], signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = {
      env: { ...environment, ...call.environment.reveal() },
      encoding: 'utf8',
      maxBuffer: maxOutputBytes,
      killSignal: 'SIGKILL',
      signal,
    } as const;
    const child = execFile(call.file, [...call.args], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(failureOf(call, error, stderr));
    });
    // A plugin need not read its request; its answer decides.
    child.stdin?.on('error', () => {});
    child.stdin?.end(call.input.reveal());
  });
}

/** The error of the call itself repeats arguments and output, so only the kind of its end is taken from it. */
function failureOf(call: PluginCall, error: Error, stderr: string): TubeletError {
  const { code, signal } = error as { code?: string | number | null; signal?: string | null };
  const said = stderr.trim().replaceAll(/\s+/g, ' ');
  const words = said === '' ? '' : `: ${withoutSecrets(call, said).slice(0, maxErrorText)}`;
  const name = basename(call.file);
  if (typeof code === 'number') return new TubeletError('internal', `${name} ended with exit code ${code}${words}`);
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') {
    return new TubeletError('exhausted', `${name} printed more than ${maxOutputBytes} bytes`);
  }
  if (typeof code === 'string') return new TubeletError('internal', `${name} could not be run: ${code}`);
  return new TubeletError('internal', `${name} was ended by ${signal ?? 'a signal'}${words}`);
}

/** Removes the secrets that the agent passed in from what a plugin prints when it fails. */
function withoutSecrets({ input, environment }: PluginCall, text: string): string {
  const token = /"serviceAccountToken":"([^"]+)"/.exec(input.reveal())?.[1];
  const secrets = [token ?? '', ...Object.values(environment.reveal())].filter((secret) => secret.length >= 8);
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, '<masked>'), text);
}

/** The real files behind the configuration of plugins. */
export const providerFiles = {
  readText: (path: string): Promise<string> => readFile(path, 'utf8'),
  isFolder: async (path: string): Promise<boolean> => (await stat(path)).isDirectory(),
  /** Names of the plain files in a folder. */
  listFiles: async (path: string): Promise<readonly string[]> => {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
  },
  isExecutable: async (path: string): Promise<boolean> => {
    try {
      await access(path, constants.X_OK);
      return (await stat(path)).isFile();
    } catch {
      return false;
    }
  },
};
