import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { withTimeout } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { kindOf, TubeletError } from '../../base/errors.ts';
import type { ExecPlugin } from '../kubeconfig/access.ts';

export interface ExecRunner {
  /** What the plugin printed; `info` is for KUBERNETES_EXEC_INFO. */
  run(plugin: ExecPlugin, info: string): Promise<string>;
}

/** How a plugin's run ended, as the metric's label names it. */
type PluginEnd = 'no_error' | 'plugin_execution_error' | 'plugin_not_found_error' | 'client_internal_error';

/** Observes plugins, for metrics. */
export interface PluginObserver {
  ran(exitCode: number, end: PluginEnd): void;
  /** From now on the agent uses this certificate. */
  certificate(validity: { readonly notBefore: number; readonly notAfter: number }): void;
}

const timeoutMs = 60_000;
const maxOutputBytes = 1024 * 1024;
const maxErrorText = 400;

/** Runs the plugin as a program of this machine, without a shell and without standard input. */
export function execRunner(deps: {
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly seen?: Pick<PluginObserver, 'ran'> | undefined;
}): ExecRunner {
  return {
    async run(plugin, info) {
      const env = { ...deps.environment, ...plugin.env.reveal(), KUBERNETES_EXEC_INFO: info };
      try {
        return await withTimeout(deps.clock, timeoutMs, (signal) => runOnce(plugin, env, signal, deps.seen));
      } catch (error) {
        if (kindOf(error) !== 'timeout') throw error;
        const name = basename(plugin.command);
        throw new TubeletError('timeout', `${name} did not answer within ${timeoutMs / 1_000} s and was killed`);
      }
    },
  };
}

function runOnce(
  { command, args, installHint }: ExecPlugin,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
  seen: Pick<PluginObserver, 'ran'> | undefined,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { env, signal, encoding: 'utf8', maxBuffer: maxOutputBytes, killSignal: 'SIGKILL' } as const;
    const child = execFile(command, [...args], options, (error, stdout, stderr) => {
      const { exitCode, end } = endOf(error);
      seen?.ran(exitCode, end);
      if (error === null) resolve(stdout);
      else reject(failureOf(command, error, stderr, installHint));
    });
    child.stdin?.on('error', () => {});
    child.stdin?.end();
  });
}

function endOf(error: Error | null): { readonly exitCode: number; readonly end: PluginEnd } {
  if (error === null) return { exitCode: 0, end: 'no_error' };
  const { code } = error as { code?: string | number | null };
  if (typeof code === 'number') return { exitCode: code, end: 'plugin_execution_error' };
  return { exitCode: 1, end: code === 'ENOENT' ? 'plugin_not_found_error' : 'client_internal_error' };
}

/** The error of the call itself repeats the output, so only the kind of its end is taken from it. */
function failureOf(command: string, error: Error, stderr: string, installHint: string | undefined): TubeletError {
  const { code, signal } = error as { code?: string | number | null; signal?: string | null };
  const name = basename(command);
  const said = stderr.trim().replaceAll(/\s+/g, ' ').slice(0, maxErrorText);
  const words = said === '' ? '' : `: ${said}`;
  if (code === 'ENOENT') {
    const hint = installHint === undefined ? 'install it, or correct exec.command of the kubeconfig' : installHint;
    return new TubeletError('unavailable', `the credential plugin ${command} is not there; ${hint}`);
  }
  if (typeof code === 'number') return new TubeletError('unavailable', `${name} ended with exit code ${code}${words}`);
  if (typeof code === 'string') return new TubeletError('unavailable', `${name} could not be run: ${code}`);
  return new TubeletError('unavailable', `${name} was ended by ${signal ?? 'a signal'}${words}`);
}
