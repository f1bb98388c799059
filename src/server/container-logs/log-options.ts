import { goNumber } from './go-number.ts';
import { parseLogTime, type LogTime } from './log-time.ts';

export type LogStream = 'stdout' | 'stderr';

/** What of a log is wanted, and in which form. */
export interface LogOptions {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly sinceSeconds?: number;
  readonly sinceTime?: Readonly<LogTime>;
  readonly tailLines?: number;
  readonly limitBytes?: number;
  /** Nothing: both. */
  readonly stream?: LogStream;
}

type DecodedOptions =
  | { readonly kind: 'options'; readonly options: LogOptions }
  | { readonly kind: 'refused'; readonly status: 400 | 422; readonly body: string };

const undecodable: DecodedOptions = { kind: 'refused', status: 400, body: '{"message": "Unable to decode query."}' };
const invalid: DecodedOptions = { kind: 'refused', status: 422, body: '{"message": "Invalid request."}' };

const streams: ReadonlyMap<string, LogStream | 'all'> = new Map([
  ['All', 'all'],
  ['Stdout', 'stdout'],
  ['Stderr', 'stderr'],
]);

/** Reads a query as the API server writes it. Unknown parameters are ignored; of repeated ones the first counts. */
export function decodeLogOptions(query: URLSearchParams): DecodedOptions {
  const tailLines = number(tailText(query));
  const limitBytes = number(query.get('limitBytes'));
  const sinceSeconds = number(query.get('sinceSeconds'));
  const sinceTime = time(query.get('sinceTime'));
  if (tailLines === 'bad' || limitBytes === 'bad' || sinceSeconds === 'bad' || sinceTime === 'bad') return undecodable;

  const streamText = query.get('stream');
  const stream = streamText === null ? 'all' : streams.get(streamText);
  const refused =
    (tailLines !== undefined && tailLines < 0) ||
    (limitBytes !== undefined && limitBytes < 1) ||
    (sinceSeconds !== undefined && (sinceSeconds < 1 || query.has('sinceTime'))) ||
    stream === undefined ||
    (stream !== 'all' && tailLines !== undefined);
  if (refused) return invalid;
  return {
    kind: 'options',
    options: {
      follow: flag(query.get('follow')),
      previous: flag(query.get('previous')),
      timestamps: flag(query.get('timestamps')),
      ...(sinceSeconds === undefined ? {} : { sinceSeconds }),
      ...(sinceTime === undefined ? {} : { sinceTime }),
      ...(tailLines === undefined ? {} : { tailLines }),
      ...(limitBytes === undefined ? {} : { limitBytes }),
      ...(stream === 'all' ? {} : { stream }),
    },
  };
}

/** The moment from which on lines are wanted. */
export function sinceOf({ sinceSeconds, sinceTime }: LogOptions, nowMs: number): Readonly<LogTime> | undefined {
  if (sinceSeconds === undefined) return sinceTime;
  const at = nowMs - sinceSeconds * 1_000;
  const seconds = Math.floor(at / 1_000);
  return { seconds, nanos: Math.floor((at - seconds * 1_000) * 1_000_000), offsetMinutes: 0 };
}

/** `tail` is what very old clients say for `tailLines`; theirs wins, and `all` is the same as saying nothing. */
function tailText(query: URLSearchParams): string | null {
  const tail = query.get('tail');
  if (tail === null || tail === '') return query.get('tailLines');
  return tail === 'all' ? null : tail;
}

/** Everything is yes but what says no: a parameter without a value is a yes too. */
function flag(text: string | null): boolean {
  return text !== null && text !== '0' && text.toLowerCase() !== 'false';
}

function number(text: string | null): number | undefined | 'bad' {
  if (text === null) return undefined;
  const read = goNumber(text);
  return 'value' in read ? read.value : 'bad';
}

/** An empty time is none, and so is what clients wrote that made their queries from JSON. */
function time(text: string | null): LogTime | undefined | 'bad' {
  if (text === null || text === '' || text === 'null') return undefined;
  return parseLogTime(text) ?? 'bad';
}
