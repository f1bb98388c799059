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

/** Each command is a process that the runtime forks and enters namespaces for; a burst of them would starve the node. */
export const execProbesAtOnce = 20;

/** The runtime answers with all that a command printed, up to 16 MiB: who prints so much waits for others who do. */
const loudBytes = 1024 * 1024;
const maxLoudContainers = 1_000;

/** Runs a command in the container: exit code zero is success. Its time begins when it has a place, not before. */
export function execProber(runtime: ExecRuntime): Prober {
  const places = new Limiter(execProbesAtOnce);
  const loudPlace = new Limiter(1);
  /** Containers whose last answer was long. */
  const loud = new Set<ContainerId>();
  const heard = (id: ContainerId, bytes: number): void => {
    loud.delete(id);
    if (bytes < loudBytes) return;
    loud.add(id);
    const oldest = loud.size > maxLoudContainers ? loud.values().next() : undefined;
    if (oldest?.done === false) loud.delete(oldest.value);
  };
  return (target, signal) => {
    const run = (): Promise<ProbeOutcome> => places.run(() => execOnce(runtime, target, heard, signal), signal);
    return loud.has(target.containerId) ? loudPlace.run(run, signal) : run();
  };
}

async function execOnce(
  runtime: ExecRuntime,
  target: ProbeTarget,
  heard: (id: ContainerId, bytes: number) => void,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const { probe, container, containerId, timeoutMs } = target;
  const budget = new TextBudget();
  const cmd = expandCommand(probe.exec?.command ?? [], container, budget);
  if (budget.exceeded) return { kind: 'error', state: 'unknown', error: budget.message };
  try {
    const timeout = BigInt(Math.ceil(timeoutMs / 1_000));
    const { exitCode, stdout, stderr } = await runtime.execSync({ containerId, cmd, timeout }, { signal });
    heard(containerId, stdout.length + stderr.length);
    return { kind: exitCode === 0 ? 'success' : 'failure', output: outputText(stdout, stderr) };
  } catch (error) {
    signal.throwIfAborted();
    if (!isKind(error, 'timeout')) return { kind: 'error', state: 'unknown', error: cutText(grpcErrorText(error)) };
    const limit = Duration.ofMillis(timeoutMs).toString();
    const output = `command timed out: ${goQuote(cutText(cmd.join(' ')))} timed out after ${limit}`;
    // The runtime measures by its own watch: when it says so, we were not the slow one.
    const isAnswer = error instanceof TubeletError && error.code !== undefined;
    return { kind: 'failure', output, ...(!isAnswer && { unanswered: true }) };
  }
}

/** Only what stands in the spec itself is known here; a variable that comes from elsewhere is empty. */
function expandCommand(command: readonly string[], container: Container, budget: TextBudget): string[] {
  const values = new Map((container.env ?? []).map(({ name, value }) => [name, value ?? '']));
  return command.map((word) => (budget.exceeded ? '' : expandVariables(word, (name) => values.get(name), budget)));
}
