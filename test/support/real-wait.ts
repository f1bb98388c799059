import { describeError } from '../../src/base/errors.ts';
import { systemClock } from '../../src/base/system-clock.ts';

export const clock = systemClock();

const lookMs = 20;
/** Generous: it only says when a test gives up, and the machine may be busy with other things. */
const defaultTimeoutMs = 30_000;
/** A machine may be known to be slow. */
const patience = Number(process.env['TUBELET_TEST_PATIENCE'] ?? 1);

/** The first answer that is neither `undefined` nor `false`; when none comes in time, an error that says what was waited for. */
export async function until<Answer>(
  what: string,
  ask: () => Answer | undefined | false | Promise<Answer | undefined | false>,
  options: { readonly timeoutMs?: number; readonly state?: () => unknown } = {},
): Promise<Answer> {
  const deadline = clock.monotonic() + (options.timeoutMs ?? defaultTimeoutMs) * patience;
  for (;;) {
    let trouble: unknown;
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== false) return answer;
    } catch (error) {
      // What cannot be asked yet is asked again; the last trouble is told in the end.
      trouble = error;
    }
    if (clock.monotonic() >= deadline) {
      const state = await describeState(options.state);
      const last = trouble === undefined ? '' : `; last trouble: ${describeError(trouble)}`;
      throw new Error(`waited in vain until ${what}${state}${last}`, { cause: trouble });
    }
    await clock.sleep(lookMs);
  }
}

/** What can be told of the state in the end; it may be beyond asking. */
async function describeState(ask: (() => unknown) | undefined): Promise<string> {
  if (ask === undefined) return '';
  try {
    return `; now: ${JSON.stringify(await ask())}`;
  } catch (error) {
    return `; now: unknown: ${describeError(error)}`;
  }
}
