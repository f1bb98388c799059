import { sleepBy } from './sleep.ts';
import type { CancelTimer, Clock } from './clock.ts';

/** The longest delay that setTimeout takes; above it Node fires at once. */
const maxTimerMs = 2 ** 31 - 1;

/** The time of this machine. */
export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep: (ms, signal) => sleepBy(after, ms, signal),
    after,
  };
}

/** Node may fire a timer a little early and cannot hold long ones, so the rest is armed until none is left. */
function after(ms: number, callback: () => void): CancelTimer {
  const due = performance.now() + ms;
  let timer = arm();

  function arm(): NodeJS.Timeout {
    const rest = Math.max(0, due - performance.now());
    return setTimeout(
      () => {
        if (performance.now() >= due || !(ms > 0)) callback();
        else timer = arm();
      },
      Math.min(Math.ceil(rest), maxTimerMs),
    );
  }

  return () => clearTimeout(timer);
}
