import { describeHungLoop, type HungLoop } from '../base/heartbeats.ts';

export interface SyncLoopInput {
  readonly nowMs: number;
  /** When the last relist that succeeded began, or the agent where there was none; monotonic as all here. */
  readonly relistedAtMs: number;
  readonly syncFrequencyMs: number;
  readonly hung: readonly HungLoop[];
}

const minIdleMs = 5 * 60_000;

/** Why pods are not brought up to date any more, as `/healthz/syncloop` has it; nothing while they are. */
export function syncLoopProblem({ nowMs, relistedAtMs, syncFrequencyMs, hung }: SyncLoopInput): string | undefined {
  const idleMs = nowMs - relistedAtMs;
  const problems = hung.filter(({ carriesPods }) => carriesPods).map(describeHungLoop);
  if (idleMs > Math.max(2 * syncFrequencyMs, minIdleMs))
    problems.unshift(`no round for ${Math.round(idleMs / 1_000)} s`);
  return problems.length === 0 ? undefined : problems.join('; ');
}
