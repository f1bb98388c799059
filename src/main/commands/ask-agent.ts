import type { Clock } from '../../base/clock.ts';
import { isKind } from '../../base/errors.ts';
import {
  answerName,
  maxAnswerBytes,
  maxRequestBytes,
  parseAnswer,
  parseRequest,
  shutdownRequests,
  type ShutdownAnswer,
} from '../../model/shutdown-request.ts';
import type { ShutdownFiles } from '../../shutdown/ports.ts';

interface AskOptions {
  readonly files: Pick<ShutdownFiles, 'read' | 'replace' | 'remove'>;
  readonly clock: Clock;
  readonly rootDir: string;
  /** Of a new request. */
  readonly id: string;
  readonly bootId: string;
  readonly onLine: (line: string) => void;
  readonly signal: AbortSignal;
}

/** What came of it. */
export interface Asked {
  readonly kind: NonNullable<ShutdownAnswer['end']> | 'nothingToCallOff' | 'unanswered' | 'interrupted' | 'goesOn';
  /** For people, where something is to be explained. */
  readonly message?: string;
}

const pollMs = 200;
/** An agent that runs answers at once. */
const firstAnswerMs = 10_000;

/** Asks the agent that has that root folder, through files that only root can write, and follows what it answers. */
export async function askAgent(what: 'plan' | 'shutdown' | 'cancel', options: AskOptions): Promise<Asked> {
  const { files, rootDir, id, bootId } = options;
  const { folder, request, plan, fileMode } = shutdownRequests;
  const text = JSON.stringify({ id, bootId });
  const pathOf = (name: string): string => `${rootDir}/${folder}/${name}`;
  try {
    if (what === 'plan') {
      await files.replace(pathOf(plan), text, fileMode);
      try {
        return await follow(plan, id, options);
      } finally {
        await files.remove(pathOf(plan));
      }
    }
    const known = await requestAt(pathOf(request), options);
    if (what === 'cancel') {
      if (known === undefined) return { kind: 'nothingToCallOff', message: 'no shutdown was asked for by hand' };
      await files.remove(pathOf(request));
      return await followCancel(known, options);
    }
    // A shutdown that was asked for before is followed, not asked for again.
    if (known === undefined) await files.replace(pathOf(request), text, fileMode);
    return await follow(request, known ?? id, options);
  } catch (error) {
    if (isKind(error, 'notFound')) return unanswered(rootDir);
    throw error;
  }
}

/** The id of the request that is there, if it is of this boot. */
async function requestAt(path: string, { files, bootId }: AskOptions): Promise<string | undefined> {
  try {
    const request = parseRequest(await files.read(path, maxRequestBytes));
    return request?.bootId === bootId ? request.id : undefined;
  } catch (error) {
    if (isKind(error, 'notFound')) return undefined;
    throw error;
  }
}

/** Hands on each line once, until the answer has an end. */
async function follow(request: string, id: string, options: AskOptions): Promise<Asked> {
  const { clock, onLine, signal, rootDir } = options;
  const beganAt = clock.monotonic();
  let printed = 0;
  for (let isAnswered = false; ;) {
    const answer = await answerTo(request, options);
    if (answer?.id === id) {
      isAnswered = true;
      for (const line of answer.lines.slice(printed)) onLine(line);
      printed = Math.max(printed, answer.lines.length);
      if (answer.end !== undefined) return { kind: answer.end };
    }
    if (!isAnswered && clock.monotonic() - beganAt > firstAnswerMs) return unanswered(rootDir);
    if (!(await paused(clock, signal))) {
      return { kind: 'interrupted', message: 'not waiting any more; what was asked for goes on' };
    }
  }
}

async function followCancel(id: string, options: AskOptions): Promise<Asked> {
  const { clock, onLine, signal } = options;
  const beganAt = clock.monotonic();
  while (clock.monotonic() - beganAt <= firstAnswerMs && (await paused(clock, signal))) {
    const answer = await answerTo(shutdownRequests.request, options);
    if (answer?.id !== id || answer.end !== 'calledOff') continue;
    onLine(answer.lines.at(-1) ?? '');
    return { kind: 'calledOff' };
  }
  return {
    kind: 'goesOn',
    message: 'the request was taken back, but the agent has not said that it called the shutdown off',
  };
}

async function answerTo(request: string, { files, rootDir }: AskOptions): Promise<ShutdownAnswer | undefined> {
  try {
    const path = `${rootDir}/${shutdownRequests.folder}/${answerName(request)}`;
    return parseAnswer(await files.read(path, maxAnswerBytes));
  } catch (error) {
    if (isKind(error, 'notFound')) return undefined;
    throw error;
  }
}

/** False when the user wants no more. */
async function paused(clock: Clock, signal: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(pollMs, signal);
    return true;
  } catch {
    return false;
  }
}

function unanswered(rootDir: string): Asked {
  return {
    kind: 'unanswered',
    message:
      `no agent answers in ${rootDir}: it does not run, has another --root-dir, or its configuration sets neither ` +
      'shutdownGracePeriod nor shutdownGracePeriodByPodPriority',
  };
}
