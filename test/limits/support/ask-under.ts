import { readFileSync } from 'node:fs';
import { clock } from '../../support/real-wait.ts';

/** What a good client got while others attacked. */
export interface AnswersUnderAttack {
  readonly answered: number;
  readonly slowestMs: number;
  /** The same without the time for which the agent, or this process, could run and no processor was free. */
  readonly slowestOwnMs: number;
  readonly failures: readonly string[];
}

interface AskUnderOptions {
  /** Not before: the attack has to build up. */
  readonly afterMs?: number;
  readonly everyMs?: number;
  /** The agent, whose waiting for a processor is the machine's fault. */
  readonly pid?: number;
}

/** Asks again and again for as long as the attack lasts, one question at a time. */
export async function askUnder(
  attack: Promise<unknown>,
  ask: () => Promise<{ readonly status: number; readonly ms: number }>,
  { afterMs = 1_500, everyMs = 200, pid }: AskUnderOptions = {},
): Promise<AnswersUnderAttack> {
  const state = { isOver: false };
  void attack.finally(() => (state.isOver = true)).catch(() => {});
  await clock.sleep(afterMs);
  const waited = (): number => waitedMs(process.pid) + (pid === undefined ? 0 : waitedMs(pid));
  let answered = 0;
  let slowestMs = 0;
  let slowestOwnMs = 0;
  const failures: string[] = [];
  while (!state.isOver) {
    const began = clock.monotonic();
    const waitedBefore = waited();
    try {
      const { status, ms } = await ask();
      if (status === 200) answered++;
      else failures.push(`status ${status}`);
      slowestMs = Math.max(slowestMs, ms);
      slowestOwnMs = Math.max(slowestOwnMs, ms - (waited() - waitedBefore));
    } catch (error) {
      const { code, name } = error as NodeJS.ErrnoException;
      failures.push(`${code ?? name} after ${Math.round(clock.monotonic() - began)} ms`);
    }
    await clock.sleep(everyMs);
  }
  return { answered, slowestMs, slowestOwnMs, failures };
}

/** How long the main thread of a process has waited for a processor since it began; 0 where the kernel does not count it. */
function waitedMs(pid: number): number {
  try {
    const [, nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    return 0;
  }
}
