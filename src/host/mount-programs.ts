import { spawn } from 'node:child_process';
import { linkedSignal, raceAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import type { MountSpec } from '../model/file-facts.ts';

interface MountProgramsOptions {
  /** The agent's own; the programs are found by its PATH. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Pick<Clock, 'after'>;
  readonly mount?: string;
  readonly umount?: string;
  readonly systemdRun?: string;
}

/** Enough for the message of a helper; the rest is read and dropped. */
const maxOutput = 8_192;
/** Of a program that does nothing. */
const probeMs = 10_000;

/**
 * mount(8) and umount(8), without a shell. They run helpers of file systems, which may hang for as long as servers do.
 */
export function mountPrograms(options: MountProgramsOptions) {
  const { environment, clock, mount = 'mount', umount = 'umount', systemdRun = 'systemd-run' } = options;
  /** Programs that may not end although they were killed: there is never a second one for the same mount point. */
  const unmounting = new Set<string>();
  let probing: Promise<boolean> | undefined;

  /** Whether programs can be run in scopes of systemd; asked once. */
  async function haveScopes(): Promise<boolean> {
    const limit = linkedSignal(undefined, { clock, ms: probeMs });
    const words = ['--description=Kubernetes systemd probe', '--scope', 'true'];
    const { ended } = await run(systemdRun, words, environment, limit.signal);
    limit.release();
    return ended === undefined;
  }

  /**
   * The command line of mount(8). Daemons of file systems that it leaves behind must outlive the agent, whose service ends
   * with all its processes, so they get a scope of their own where there is systemd.
   */
  async function mountCommand(args: readonly string[], target: string): Promise<readonly [string, ...string[]]> {
    probing ??= haveScopes();
    if (!(await probing)) return [mount, ...args];
    return [systemdRun, `--description=Kubernetes transient mount for ${target}`, '--scope', '--', mount, ...args];
  }

  return {
    /** Ends when the program and its helper have ended: an abort kills both and waits for that. */
    async mount({ fsType, source, target, options: flags }: MountSpec, signal: AbortSignal): Promise<void> {
      const args = ['-t', fsType, ...(flags.length === 0 ? [] : ['-o', flags.join(',')]), '--', source, target];
      const [program, ...words] = await raceAbort(mountCommand(args, target), signal);
      const { ended, output } = await run(program, words, environment, signal);
      signal.throwIfAborted();
      if (ended === undefined) return;
      const own = words.length - args.length;
      const shown = [...words.slice(0, own), ...args.filter((word) => word !== '--')].join(' ');
      const message = `mount failed: ${ended}\nMounting command: ${program}\nMounting arguments: ${shown}\nOutput: ${output}`;
      throw new TubeletError('unavailable', message);
    },

    /** Ends with the signal, whether or not the program has ended. */
    async unmount(target: string, { force }: { readonly force: boolean }, signal: AbortSignal): Promise<void> {
      const args = [...(force ? ['-f'] : []), '--', target];
      const key = args.join(' ');
      if (unmounting.has(key)) {
        throw new TubeletError('unavailable', `unmount failed: an earlier umount of ${target} has not ended`);
      }
      const running = run(umount, args, environment, signal);
      unmounting.add(key);
      void running.finally(() => unmounting.delete(key));
      const { ended, output } = await raceAbort(running, signal);
      if (ended === undefined) return;
      throw new TubeletError(
        'unavailable',
        `unmount failed: ${ended}\nUnmounting arguments: ${target}\nOutput: ${output}`,
      );
    },
  };
}

interface ProgramEnd {
  /** Undefined after success. */
  readonly ended?: string;
  readonly output: string;
}

/** Runs a program in a process group of its own; settles when it has ended, killed by the signal or by itself. */
function run(
  program: string,
  args: readonly string[],
  environment: MountProgramsOptions['environment'],
  signal: AbortSignal,
): Promise<ProgramEnd> {
  signal.throwIfAborted();
  return new Promise((resolve) => {
    // In a group of its own, so that a helper is killed with the program that waits for it.
    const child = spawn(program, [...args], {
      env: { ...environment, LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const chunks: Buffer[] = [];
    let size = 0;
    const keep = (chunk: Buffer): void => {
      if (size < maxOutput) chunks.push(chunk);
      size += chunk.length;
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const kill = (): void => killGroup(child.pid);
    const end = (ended: string | undefined): void => {
      signal.removeEventListener('abort', kill);
      const output = Buffer.concat(chunks).toString('utf8').slice(0, maxOutput);
      resolve({ output, ...(ended !== undefined && { ended }) });
    };
    signal.addEventListener('abort', kill, { once: true });
    child.once('error', ({ message }) => end(message));
    child.once('close', (code, killedBy) => {
      end(code === 0 ? undefined : code === null ? `signal: ${killedBy ?? ''}` : `exit status ${code}`);
    });
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // It ended by itself just now.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
