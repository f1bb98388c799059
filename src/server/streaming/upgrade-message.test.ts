import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import { streamingTarget } from './streaming-target.ts';
import { judgeAnswer, plainAnswer, upgradeHead } from './upgrade-message.ts';

describe('the request to the streaming server', () => {
  const linesOf = (headers: Record<string, string | string[]>, rawHeaders: readonly string[] = []): readonly string[] =>
    upgradeHead({ method: 'GET', path: '/exec/t', host: 'h:1', headers, rawHeaders })
      .toString('latin1')
      .split('\r\n')
      .slice(2, -2);

  const cases: Readonly<
    Record<string, readonly [Record<string, string | string[]>, raw: readonly string[], readonly string[]]>
  > = {
    'what is between the client and us stays here': [
      {
        host: 'node',
        'content-length': '5',
        'transfer-encoding': 'chunked',
        expect: '100-continue',
        te: 'x',
        via: 'p',
      },
      [],
      ['via: p'],
    ],
    'lines that were several are several again': [
      { 'x-stream-protocol-version': 'v4, v3, v2' },
      ['X-Stream-Protocol-Version', 'v4', 'x-stream-protocol-version', 'v3, v2'],
      ['x-stream-protocol-version: v4', 'x-stream-protocol-version: v3, v2'],
    ],
    'a header that was changed is as it was changed to': [
      { 'sec-websocket-protocol': 'v5.channel.k8s.io' },
      ['Sec-WebSocket-Protocol', 'v5.channel.k8s.io', 'Sec-WebSocket-Protocol', 'base64url.bearer.x'],
      ['sec-websocket-protocol: v5.channel.k8s.io'],
    ],
    'a header that was taken out is not brought back': [{ a: 'b' }, ['Authorization', 'Bearer x', 'a', 'b'], ['a: b']],
    'a name that means something to the language': [{ constructor: 'x' }, ['constructor', 'x'], ['constructor: x']],
    'a list': [{ 'set-cookie': ['a', 'b'] }, [], ['set-cookie: a', 'set-cookie: b']],
  };
  for (const [name, [headers, raw, expected]] of Object.entries(cases)) {
    test(name, () => assert.deepEqual(linesOf(headers, raw), expected));
  }

  test('bytes beyond ASCII stay what they were', () => {
    const head = upgradeHead({ method: 'POST', path: '/', host: 'h', headers: { a: '\u00fc\u00ff' }, rawHeaders: [] });
    assert.deepEqual(head, Buffer.from('POST / HTTP/1.1\r\nHost: h\r\na: \u00fc\u00ff\r\n\r\n', 'latin1'));
  });
});

describe('the answer of the streaming server', () => {
  const cases: Readonly<Record<string, string>> = {
    'HTTP/1.1 101 Switching Protocols': 'opens',
    'HTTP/1.0 101 ok': 'opens',
    'HTTP/1.1 101\r\n': 'opens',
    'HTTP/1.1 200 OK': 'refuses',
    'HTTP/1.1 404 Not Found': 'refuses',
    'HTTP/1.1 429 Too Many Requests': 'refuses',
    'HTTP/1.1 500 Internal Server Error': 'refuses',
    'HTTP/1.1 100 Continue': 'useless',
    'HTTP/1.1 301 Moved': 'useless',
    'HTTP/1.1 307 Temporary Redirect': 'useless',
    'HTTP/1.1 1012 x': 'useless',
    'HTTP/2.0 101 x': 'useless',
    ' HTTP/1.1 101': 'useless',
    'SSH-2.0-OpenSSH_9': 'useless',
  };
  for (const [line, expected] of Object.entries(cases)) {
    test(`${JSON.stringify(line)} ${expected}`, () => assert.equal(judgeAnswer(Buffer.from(line)), expected));
  }
});

test('an answer of our own is complete and ends the connection', () => {
  assert.equal(
    plainAnswer(500, 'grüß').toString(),
    'HTTP/1.1 500 Internal Server Error\r\nContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n' +
      'Content-Length: 7\r\nConnection: close\r\n\r\ngrüß\n',
  );
});

describe('where the streaming server is', () => {
  const cases: Readonly<Record<string, unknown>> = {
    'http://127.0.0.1:4321/exec/t': { kind: 'tcp', host: '127.0.0.1', port: 4_321 },
    'http://node/exec/t': { kind: 'tcp', host: 'node', port: 80 },
    'http://[::1]:5/x': { kind: 'tcp', host: '::1', port: 5 },
    'https://127.3.2.1/x': { kind: 'tls', host: '127.3.2.1', port: 443, verify: false },
    'https://[::1]:5/x': { kind: 'tls', host: '::1', port: 5, verify: false },
    'https://localhost:5/x': { kind: 'tls', host: 'localhost', port: 5, verify: false },
    'https://10.0.0.1:5/x': { kind: 'tls', host: '10.0.0.1', port: 5, verify: true },
    'https://127.0.0.1.example.com/x': { kind: 'tls', host: '127.0.0.1.example.com', port: 443, verify: true },
    'http+unix://%2Frun%2Fa.sock/exec/t': { kind: 'unix', path: '/run/a.sock' },
    'http+unix://run/exec/t': 'the address of the session names no absolute socket path',
    'http+unix://%2Frun%00/exec/t': 'the address of the session names no absolute socket path',
    'file:///etc/passwd': 'the address of the session has no host',
    'ftp://127.0.0.1/x': 'the address of the session is not HTTP but ftp:',
    'ws://127.0.0.1/x': 'the address of the session is not HTTP but ws:',
  };
  for (const [url, expected] of Object.entries(cases)) {
    test(url, () => {
      const find = (): unknown => streamingTarget(new URL(url));
      if (typeof expected === 'string') assert.throws(find, new TubeletError('invalid', expected));
      else assert.deepEqual(find(), expected);
    });
  }
});
