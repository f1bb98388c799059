import { Duration } from '../../../base/duration.ts';
import { codedWordsOf, isKind, TubeletError } from '../../../base/errors.ts';
import { Limiter } from '../../../base/limiter.ts';
import type { Container } from '../../../gen/kubernetes/types.ts';
import { expandVariables } from '../../../model/expansion.ts';
import { goQuote } from '../../../model/go-text.ts';
import type { ExecRuntime, Prober, ProbeOutcome, ProbeTarget } from '../ports.ts';
import { outputText } from './output.ts';

/** Each command is a process that the runtime forks and enters namespaces for; a burst of them would starve the node. */
export const execProbesAtOnce = 20;

/** Runs a command in the container: exit code zero is success. Its time begins when it has a place, not before. */
export function execProber(runtime: ExecRuntime): Prober {
  const places = new Limiter(execProbesAtOnce);
  return (target, signal) => places.run(() => execOnce(runtime, target, signal), signal);
}

async function execOnce(runtime: ExecRuntime, target: ProbeTarget, signal: AbortSignal): Promise<ProbeOutcome> {
  const { probe, container, containerId, timeoutMs } = target;
  const cmd = expandCommand(probe.exec?.command ?? [], container);
  try {
    const timeout = BigInt(Math.ceil(timeoutMs / 1_000));
    const { exitCode, stdout, stderr } = await runtime.execSync({ containerId, cmd, timeout }, { signal });
    return { kind: exitCode === 0 ? 'success' : 'failure', output: outputText(stdout, stderr) };
  } catch (error) {
    signal.throwIfAborted();
    if (!isKind(error, 'timeout')) return { kind: 'error', state: 'unknown', error: codedWordsOf(error) };
    const limit = Duration.ofMillis(timeoutMs).toString();
    const output = `command timed out: ${goQuote(cmd.join(' '))} timed out after ${limit}`;
    // The runtime measures by its own watch: when it says so, we were not the slow one.
    const isAnswer = error instanceof TubeletError && error.code !== undefined;
    return { kind: 'failure', output, ...(!isAnswer && { unanswered: true }) };
  }
}

/** Only what stands in the spec itself is known here; a variable that comes from elsewhere is empty. */
function expandCommand(command: readonly string[], container: Container): string[] {
  const values = new Map((container.env ?? []).map(({ name, value }) => [name, value ?? '']));
  return command.map((word) => expandVariables(word, (name) => values.get(name)));
}
