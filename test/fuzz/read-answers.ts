export interface HeardAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** It came to its end. */
  readonly isWhole: boolean;
}

interface HeardAnswers {
  readonly answers: readonly HeardAnswer[];
  /** What is no answer at all; behind an answer 101 there is none. */
  readonly nonsense: string | undefined;
  readonly opened: boolean;
}

const head = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n((?:[!-9;-~]+:[^\r\n\0]*\r\n)*)\r\n/;

/** Takes apart what a server said over HTTP/1.1, strictly: there is no excuse for it. */
export function readAnswers(bytes: Buffer, methods: readonly string[] = []): HeardAnswers {
  const answers: HeardAnswer[] = [];
  let text = bytes.toString('latin1');
  while (text !== '') {
    const match = head.exec(text);
    if (match === null) {
      const isCut = !text.includes('\r\n\r\n') && 'HTTP/1.1 '.startsWith(text.slice(0, 9));
      return { answers, nonsense: isCut ? undefined : text.slice(0, 300), opened: false };
    }
    const [whole, code = '', lines = ''] = match;
    const status = Number(code);
    const headers = headersIn(lines);
    text = text.slice(whole.length);
    if (status === 101) {
      answers.push({ status, headers, body: '', isWhole: true });
      return { answers, nonsense: undefined, opened: true };
    }
    if (status < 200) continue;
    // What cannot be read, or not in time, is refused before its method is known; the connection ends with that.
    const isRefusal = (status === 400 || status === 408) && headers.get('connection') === 'close';
    const isBare =
      (methods[answers.length] === 'HEAD' && !(isRefusal && text !== '')) || status === 204 || status === 304;
    const taken = isBare ? { body: '', isWhole: true, rest: text } : takeBody(text, headers);
    answers.push({ status, headers, body: taken.body, isWhole: taken.isWhole });
    text = taken.rest;
  }
  return { answers, nonsense: undefined, opened: false };
}

function headersIn(lines: string): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines.split('\r\n').slice(0, -1)) {
    const colon = line.indexOf(':');
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return headers;
}

interface Taken {
  readonly body: string;
  readonly isWhole: boolean;
  readonly rest: string;
}

function takeBody(text: string, headers: ReadonlyMap<string, string>): Taken {
  const length = headers.get('content-length');
  if (length !== undefined) {
    const body = text.slice(0, Number(length));
    return { body, isWhole: body.length === Number(length), rest: text.slice(body.length) };
  }
  // Until the end of the connection.
  if (headers.get('transfer-encoding') !== 'chunked') return { body: text, isWhole: true, rest: '' };
  let [body, rest] = ['', text];
  for (;;) {
    const [line, size = ''] = /^([0-9a-f]+)\r\n/.exec(rest) ?? [];
    if (line === undefined) return { body, isWhole: false, rest: '' };
    const bytes = Number.parseInt(size, 16);
    const chunk = rest.slice(line.length, line.length + bytes);
    body += chunk;
    rest = rest.slice(line.length + bytes);
    if (chunk.length < bytes || !rest.startsWith('\r\n')) return { body, isWhole: false, rest: '' };
    rest = rest.slice(2);
    if (bytes === 0) return { body, isWhole: true, rest };
  }
}
