import type { Clock } from '../base/clock.ts';
import type { Pod } from '../gen/kubernetes/types.ts';
import type { CommandIo } from './command.ts';

interface RunOnceDeps {
  readonly agent: { pods(): readonly Pod[] };
  readonly clock: Clock;
  readonly io: CommandIo;
}

type Outcome = 'wait' | 'good' | 'bad';

const pollMs = 200;
/** Pods that are not running after this time count as failed. */
const timeoutMs = 5 * 60_000;

/** `--runonce`: starts the pods of the manifests, reports each one's outcome, and ends; the pods keep running. */
export async function runOnce({ agent, clock, io }: RunOnceDeps): Promise<number> {
  const deadline = clock.monotonic() + timeoutMs;
  while (clock.monotonic() < deadline && !io.signal.aborted && agent.pods().some((pod) => outcomeOf(pod) === 'wait')) {
    await clock.sleep(pollMs, io.signal);
  }
  const pods = agent.pods();
  for (const pod of pods) {
    const name = `${pod.metadata?.namespace}/${pod.metadata?.name}`;
    io.stdout(`${name}: ${pod.status?.phase ?? 'Pending'}${waitingReason(pod)}\n`);
  }
  return pods.every((pod) => outcomeOf(pod) === 'good') ? 0 : 1;
}

/** A pod is done when all its containers run or it has ended. */
function outcomeOf({ status, spec }: Pod): Outcome {
  if (status?.phase === 'Succeeded') return 'good';
  if (status?.phase === 'Failed') return 'bad';
  const states = status?.containerStatuses ?? [];
  if (states.some(({ state }) => state?.waiting?.reason === 'CrashLoopBackOff')) return 'bad';
  const running = states.filter(({ state, ready }) => state?.running !== undefined && ready).length;
  return spec !== undefined && running === spec.containers.length ? 'good' : 'wait';
}

function waitingReason({ status }: Pod): string {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const reasons = all.flatMap(({ name, state }) =>
    state?.waiting === undefined
      ? []
      : [`${name}: ${state.waiting.reason ?? ''} ${state.waiting.message ?? ''}`.trim()],
  );
  return reasons.length === 0 ? '' : ` (${reasons.join('; ')})`;
}
