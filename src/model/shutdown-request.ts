/**
 * How `tubelet shutdown` speaks with the agent: through files of a folder below the agent's root folder that only root may
 * enter. The node is being shut down as long as the request is there; a plan is only asked for. Each is answered beside it.
 */
export const shutdownRequests = {
  folder: 'shutdown',
  folderMode: 0o700,
  fileMode: 0o600,
  request: 'request.json',
  plan: 'plan.json',
} as const;

/** The largest request and answer that are read. */
export const maxRequestBytes = 4_096;
export const maxAnswerBytes = 4 << 20;

/** The answer to a request of that file name. */
export function answerName(request: string): string {
  return `answer-to-${request}`;
}

export interface ShutdownRequest {
  /** Distinguishes requests; its answer names it. */
  readonly id: string;
  /** Of the boot in which it was made: a machine that has been down since did what it was asked. */
  readonly bootId: string;
}

export interface ShutdownAnswer {
  readonly id: string;
  /** For people; more are added at the end while it goes on. */
  readonly lines: readonly string[];
  /** How it ended; undefined while it goes on. */
  readonly end?: 'done' | 'incomplete' | 'calledOff';
}

/** Undefined for a text that is no request. */
export function parseRequest(text: string): ShutdownRequest | undefined {
  const { id, bootId } = objectOf(text);
  return typeof id === 'string' && id !== '' && typeof bootId === 'string' ? { id, bootId } : undefined;
}

/** Undefined for a text that is no answer. */
export function parseAnswer(text: string): ShutdownAnswer | undefined {
  const { id, lines, end } = objectOf(text);
  if (typeof id !== 'string' || !Array.isArray(lines) || !lines.every((line) => typeof line === 'string'))
    return undefined;
  if (end !== undefined && end !== 'done' && end !== 'incomplete' && end !== 'calledOff') return undefined;
  return { id, lines, ...(end !== undefined && { end }) };
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const document: unknown = JSON.parse(text);
    return typeof document === 'object' && document !== null ? (document as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}
