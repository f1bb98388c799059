import { cutText } from '../../../base/cut-text.ts';
import { Duration } from '../../../base/duration.ts';
import { grpcErrorText, isKind, TubeletError } from '../../../base/errors.ts';
import type { ContainerId } from '../../../base/ids.ts';
import { Limiter } from '../../../base/limiter.ts';
import type { Container } from '../../../gen/kubernetes/types.ts';
import { expandVariables, TextBudget } from '../../../model/expansion.ts';
import { goQuote } from '../../../model/go-text.ts';
import type { ExecRuntime, Prober, ProbeOutcome, ProbeTarget } from '../ports.ts';
import { outputText } from './output.ts';

/** Each command is a process that the runtime starts in the container's namespaces; a burst would starve the node. */
export const execProbesAtOnce = 20;

/** The runtime returns all that a command printed, up to 16 MiB: containers that print so much are probed one at a time. */
const verboseBytes = 1024 * 1024;
const maxVerboseContainers = 1_000;

/** Runs a command in the container: exit code zero is success. Its timeout begins when it runs, not while it waits. */
export function execProber(runtime: ExecRuntime): Prober {
  const limiter = new Limiter(execProbesAtOnce);
  const verboseLimiter = new Limiter(1);
  /** Containers whose last answer was long. */
  const verbose = new Set<ContainerId>();
  const recordOutput = (id: ContainerId, bytes: number): void => {
    verbose.delete(id);
    if (bytes < verboseBytes) return;
    verbose.add(id);
    const oldest = verbose.size > maxVerboseContainers ? verbose.values().next() : undefined;
    if (oldest?.done === false) verbose.delete(oldest.value);
  };
  return (target, signal) => {
    const run = (): Promise<ProbeOutcome> => limiter.run(() => execOnce(runtime, target, recordOutput, signal), signal);
    return verbose.has(target.containerId) ? verboseLimiter.run(run, signal) : run();
  };
}

async function execOnce(
  runtime: ExecRuntime,
  target: ProbeTarget,
  recordOutput: (id: ContainerId, bytes: number) => void,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const { probe, container, containerId, timeoutMs } = target;
  const budget = new TextBudget();
  const cmd = expandCommand(probe.exec?.command ?? [], container, budget);
  if (budget.exceeded) return { kind: 'error', state: 'unknown', error: budget.message };
  try {
    const timeout = BigInt(Math.ceil(timeoutMs / 1_000));
    const { exitCode, stdout, stderr } = await runtime.execSync({ containerId, cmd, timeout }, { signal });
    recordOutput(containerId, stdout.length + stderr.length);
    return { kind: exitCode === 0 ? 'success' : 'failure', output: outputText(stdout, stderr) };
  } catch (error) {
    signal.throwIfAborted();
    if (!isKind(error, 'timeout')) return { kind: 'error', state: 'unknown', error: cutText(grpcErrorText(error)) };
    const limit = Duration.ofMillis(timeoutMs).toString();
    const output = `command timed out: ${goQuote(cutText(cmd.join(' ')))} timed out after ${limit}`;
    // The runtime has a clock of its own: when it reports the timeout, the agent's lateness is not the cause.
    const isAnswer = error instanceof TubeletError && error.code !== undefined;
    return { kind: 'failure', output, ...(!isAnswer && { unanswered: true }) };
  }
}

/** Only values in the spec itself are known here; a variable from another source is empty. */
function expandCommand(command: readonly string[], container: Container, budget: TextBudget): string[] {
  const values = new Map((container.env ?? []).map(({ name, value }) => [name, value ?? '']));
  return command.map((part) => (budget.exceeded ? '' : expandVariables(part, (name) => values.get(name), budget)));
}
