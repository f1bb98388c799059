import type { IncomingHttpHeaders } from 'node:http';
import { goQuote } from '../../model/go-text.ts';

/** Either what was asked for, or why it cannot be understood, in the words that clients know. */
type Parsed<Value> = { readonly value: Value } | { readonly refusal: string };

/** Which streams of a process a client wants. */
interface SessionStreams {
  readonly tty: boolean;
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
}

/** Only `1` means yes. A terminal has one output for everything, so there is no standard error beside it. */
export function parseStreams(query: URLSearchParams): Parsed<SessionStreams> {
  const asks = (name: string): boolean => query.get(name) === '1';
  const tty = asks('tty');
  const streams = { tty, stdin: asks('input'), stdout: asks('output'), stderr: asks('error') && !tty };
  if (!streams.stdin && !streams.stdout && !streams.stderr) {
    return { refusal: 'you must specify at least 1 of stdin, stdout, stderr' };
  }
  return { value: streams };
}

/** A WebSocket gives each port two channels, and a channel's number is one byte. */
const maxPorts = 128;
const largestPort = 65_535;

/** SPDY clients name a port with each stream; WebSockets cannot, so theirs stand in the query. */
export function parsePorts(headers: IncomingHttpHeaders, query: URLSearchParams): Parsed<readonly number[]> {
  if (headers.upgrade?.toLowerCase() !== 'websocket') return { value: [] };
  const given = query.getAll('port');
  if (given.length === 0) return { refusal: 'query parameter "port" is required' };
  const ports: number[] = [];
  for (const list of given) {
    if (list === '') return { refusal: 'query parameter "port" cannot be empty' };
    for (const text of list.split(',')) {
      const port = /^\d+$/.test(text) ? Number(text) : Number.NaN;
      if (!(port <= largestPort)) return { refusal: unreadable(list, text, port) };
      if (port === 0) return { refusal: `port ${goQuote(list)} must be > 0` };
      ports.push(port);
      if (ports.length > maxPorts) return { refusal: `query parameter "port" has more than ${maxPorts} ports` };
    }
  }
  return { value: ports };
}

function unreadable(list: string, text: string, port: number): string {
  const fault = Number.isNaN(port) ? 'invalid syntax' : 'value out of range';
  return `unable to parse ${goQuote(list)} as a port: strconv.ParseUint: parsing ${goQuote(text)}: ${fault}`;
}

/** The command of `/run`: one text, which may come as a form in the body, cut at each space whatever quotes say. */
export function parseRunCommand(headers: IncomingHttpHeaders, body: Buffer, query: URLSearchParams): readonly string[] {
  const isForm = /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(headers['content-type'] ?? '');
  const form = isForm ? new URLSearchParams(body.toString('utf8')).get('cmd') : null;
  return (form ?? query.get('cmd') ?? '').split(' ');
}

const largestSeconds = 2n ** 63n - 1n;

/** Seconds that a checkpoint may take; the last one counts, none leaves it to the runtime's usual limit. */
export function parseCheckpointTimeout(query: URLSearchParams): Parsed<bigint> {
  const text = query.getAll('timeout').at(-1);
  if (text === undefined) return { value: 0n };
  const seconds = /^\+?\d{1,19}$/.test(text) ? BigInt(text.replace('+', '')) : undefined;
  if (seconds === undefined || seconds > largestSeconds) return { refusal: 'cannot parse value of timeout parameter' };
  return { value: seconds };
}
