import { clock } from '../../support/real-wait.ts';

/** What a good client got while others attacked. */
export interface AnswersUnderAttack {
  readonly answered: number;
  readonly slowestMs: number;
  /** How late this process itself was at most: so long the machine had no processor for anything new. */
  readonly lateMs: number;
  readonly failures: readonly string[];
}

export interface AskUnderOptions {
  /** Not before: the attack has to build up. */
  readonly afterMs?: number;
  readonly everyMs?: number;
}

const beatMs = 20;

/** Asks again and again for as long as the attack lasts, one question at a time. */
export async function askUnder(
  attack: Promise<unknown>,
  ask: () => Promise<{ readonly status: number; readonly ms: number }>,
  { afterMs = 1_500, everyMs = 200 }: AskUnderOptions = {},
): Promise<AnswersUnderAttack> {
  const state = { isOver: false };
  void attack.finally(() => (state.isOver = true)).catch(() => {});
  await clock.sleep(afterMs);
  let answered = 0;
  let slowestMs = 0;
  let lateMs = 0;
  let beat = clock.monotonic();
  const beats = setInterval(() => {
    const now = clock.monotonic();
    lateMs = Math.max(lateMs, now - beat - beatMs);
    beat = now;
  }, beatMs);
  const failures: string[] = [];
  while (!state.isOver) {
    const began = clock.monotonic();
    try {
      const { status, ms } = await ask();
      if (status === 200) answered++;
      else failures.push(`status ${status}`);
      slowestMs = Math.max(slowestMs, ms);
    } catch (error) {
      const { code, name } = error as NodeJS.ErrnoException;
      failures.push(`${code ?? name} after ${Math.round(clock.monotonic() - began)} ms`);
    }
    await clock.sleep(everyMs);
  }
  clearInterval(beats);
  return { answered, slowestMs, lateMs, failures };
}
