import { execFile } from 'node:child_process';
import { programPath } from './programs.ts';

export interface KubectlResult {
  /** Minus one when it was cut off. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface KubectlOptions {
  /** The administrator's unless told. */
  readonly kubeconfig?: string;
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 120_000;

/** Runs kubectl to its end; a refusal is an answer, not an error. */
export function runKubectl(
  args: readonly string[],
  stdin: string | undefined,
  options: { readonly kubeconfig: string; readonly cacheFolder: string; readonly timeoutMs?: number | undefined },
): Promise<KubectlResult> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      programPath('kubectl'),
      [...args],
      {
        timeout: options.timeoutMs ?? defaultTimeoutMs,
        killSignal: 'SIGKILL',
        maxBuffer: 256 * 1024 * 1024,
        encoding: 'utf8',
        env: { ...process.env, KUBECONFIG: options.kubeconfig, KUBECACHEDIR: options.cacheFolder },
      },
      (error, stdout, stderr) => {
        if (error === null) resolve({ code: 0, stdout, stderr });
        else if (typeof error.code === 'number') resolve({ code: error.code, stdout, stderr });
        else if (error.killed === true) resolve({ code: -1, stdout, stderr });
        else reject(error);
      },
    );
    // It may end before it has read its input; its exit code tells what went wrong.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(stdin);
  });
}
