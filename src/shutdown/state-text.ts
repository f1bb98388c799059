/** When the last shutdown of the machine began and ended here, in milliseconds of the wall clock. */
export interface ShutdownTimes {
  readonly startMs?: number;
  /** Undefined while it is under way, and when the agent did not live to see its end. */
  readonly endMs?: number;
}

/** What the kubelet's own file says for a time that has not come. */
const never = '0001-01-01T00:00:00Z';

/** The text of the state file, as the Go kubelet writes it. */
export function formatTimes({ startMs, endMs }: ShutdownTimes): string {
  return JSON.stringify({ startTime: timeText(startMs), endTime: timeText(endMs) });
}

/** Undefined for a text that is no state file. */
export function parseTimes(text: string): ShutdownTimes | undefined {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof document !== 'object' || document === null) return undefined;
  const { startTime = never, endTime = never } = document as Readonly<Record<string, unknown>>;
  if (typeof startTime !== 'string' || typeof endTime !== 'string') return undefined;
  const [startMs, endMs] = [millisOf(startTime), millisOf(endTime)];
  if (Number.isNaN(startMs) || Number.isNaN(endMs)) return undefined;
  return { ...(startMs !== undefined && { startMs }), ...(endMs !== undefined && { endMs }) };
}

/** The value of a metric of such a time: whole seconds, 0 for none. */
export function metricSeconds(ms: number | undefined): number {
  return ms === undefined ? 0 : Math.floor(ms / 1_000);
}

function timeText(ms: number | undefined): string {
  // Without the zeros at the end of a fraction, and without an empty one.
  return ms === undefined ? never : new Date(ms).toISOString().replace(/\.?0*Z$/, 'Z');
}

function millisOf(text: string): number | undefined {
  return text === never ? undefined : Date.parse(text);
}
