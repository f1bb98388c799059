/** What a run of the agent leaves on disk until it has stopped. */
export interface RunMarker {
  readonly pid: number;
  /** When the process began, in the kernel's ticks. */
  readonly startTicks: number;
  readonly startedAt: string;
  /** Of the machine at that time; empty where the kernel has none. */
  readonly bootId: string;
  /** How long the machine was up then. */
  readonly uptimeSeconds: number;
  readonly heapLimitMb: number;
  readonly phase: 'running' | 'stopping';
}

/** What is found of the previous run. */
export interface RunRemains {
  /** Undefined: it stopped normally, or there was none. */
  readonly marker: RunMarker | undefined;
  /** Whether that very process still runs. */
  readonly isRunning: boolean;
  /** The report that the engine wrote before it aborted. */
  readonly fatalError: FatalError | undefined;
  readonly bootId: string;
  /**
   * Whether the kernel's log shows that its out-of-memory killer ended that process; undefined: the log is unreadable.
   */
  readonly killedByKernel: boolean | undefined;
}

interface FatalError {
  readonly pid: number;
  readonly trigger: string;
  readonly event: string;
}

/** How the previous run ended, and the evidence for it. Without evidence it makes no claim. */
export type LastRun =
  | { readonly kind: 'stopped' }
  | {
      readonly kind:
        | 'stillRunning'
        | 'heapExhausted'
        | 'fatalError'
        | 'killedByKernel'
        | 'machineRestarted'
        | 'stopCutOff'
        | 'unknown';
      readonly message: string;
    };

const maxEventCharacters = 200;

export function classifyLastRun({ marker, isRunning, fatalError, bootId, killedByKernel }: RunRemains): LastRun {
  if (marker === undefined) return { kind: 'stopped' };
  const run = `The kubelet before this one (pid ${marker.pid}, started ${marker.startedAt})`;
  if (isRunning) return { kind: 'stillRunning', message: `${run} still runs with the same root directory` };
  if (fatalError?.pid === marker.pid) {
    if (fatalError.trigger === 'OOMError') {
      return {
        kind: 'heapExhausted',
        message:
          `${run} ran out of heap: its limit was ${marker.heapLimitMb} MiB. ` +
          'TUBELET_MAX_HEAP_MB in the environment of the agent sets another',
      };
    }
    return { kind: 'fatalError', message: `${run} ended by a fatal error of the engine: ${oneLine(fatalError.event)}` };
  }
  if (marker.bootId !== '' && bootId !== '' && marker.bootId !== bootId) {
    return { kind: 'machineRestarted', message: `${run} had not stopped when the machine restarted` };
  }
  if (killedByKernel === true) {
    return { kind: 'killedByKernel', message: `${run} was ended by the out-of-memory killer of the kernel` };
  }
  if (marker.phase === 'stopping') {
    return { kind: 'stopCutOff', message: `${run} was asked to stop and ended before it had` };
  }
  const kernel = killedByKernel === false ? ' The log of the kernel names no out-of-memory kill of it.' : '';
  return {
    kind: 'unknown',
    message: `${run} ended without stopping, by a signal such as SIGKILL or a crash; there is no evidence which.${kernel}`,
  };
}

/** The error of a diagnostic report of the engine; undefined when it cannot be parsed. */
export function parseFatalError(text: string): FatalError | undefined {
  let report: unknown;
  try {
    report = JSON.parse(text);
  } catch {
    // The process ended while it wrote the report, so there is no evidence.
    return undefined;
  }
  const { processId, trigger, event } = fieldsOf(fieldsOf(report)['header']);
  if (typeof processId !== 'number' || typeof trigger !== 'string' || typeof event !== 'string') return undefined;
  return { pid: processId, trigger, event };
}

/** The marker in a file; undefined when it is not one. */
export function parseMarker(text: string): RunMarker | undefined {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    // Markers are written atomically, so this is not a file of ours.
    return undefined;
  }
  const { pid, startTicks, startedAt, bootId, uptimeSeconds, heapLimitMb, phase } = fieldsOf(content);
  if (
    typeof pid !== 'number' ||
    typeof startTicks !== 'number' ||
    typeof startedAt !== 'string' ||
    typeof bootId !== 'string'
  )
    return undefined;
  if (typeof uptimeSeconds !== 'number' || typeof heapLimitMb !== 'number') return undefined;
  return {
    pid,
    startTicks,
    startedAt,
    bootId,
    uptimeSeconds,
    heapLimitMb,
    phase: phase === 'stopping' ? 'stopping' : 'running',
  };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, maxEventCharacters);
}
