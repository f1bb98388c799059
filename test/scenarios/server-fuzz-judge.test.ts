import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { credentialMark } from '../fuzz/callers.ts';
import { say, stay, type FuzzCase } from '../fuzz/case.ts';
import { makeCase } from '../fuzz/cases.ts';
import type { Heard } from '../fuzz/client.ts';
import { documentedFailures, failuresTable } from '../fuzz/documented-failures.ts';
import { judge, judgeLog, judgeRuntimeHead } from '../fuzz/judge.ts';
import { queryMark } from '../fuzz/targets.ts';
import { transcriptOf } from '../fuzz/transcript.ts';
import { watchProcess } from '../fuzz/watch.ts';

describe('what is wrong is found', () => {
  const asked: FuzzCase = {
    kind: 'page',
    listener: 'secure',
    tls: { alpn: ['http/1.1'] },
    protocol: 'http1',
    steps: [say('GET /pods HTTP/1.1\r\n\r\n')],
    leave: stay,
    entry: 'admin',
    methods: ['GET'],
  };
  const heard = (text: string, more: Partial<Heard> = {}): Heard => ({
    bytes: Buffer.from(text, 'latin1'),
    endedByServer: true,
    ended: true,
    handshake: true,
    ms: 10,
    ...more,
  });
  const answer = (status: string, body: string, ...headers: readonly string[]): string =>
    [`HTTP/1.1 ${status}`, `Content-Length: ${body.length}`, ...headers, '', body].join('\r\n');
  const good = answer('200 OK', 'ok');

  const table: readonly (readonly [what: string, found: string | undefined, text: string, more?: Partial<FuzzCase>])[] =
    [
      ['a good answer', undefined, good],
      ['a documented failure', undefined, answer('500 x', 'Authorization error (user=a, verb=get)')],
      ['any other failure', 'an undocumented 500: "oh"', answer('500 x', 'oh')],
      ['a stranger who is let in', 'somebody who may nothing got 200', good, { entry: 'nobody' }],
      [
        'a session of who may not',
        'somebody who may not run things got a session',
        answer('101 x', ''),
        { entry: 'reader' },
      ],
      ['a credential', `an answer has the secret ${credentialMark}`, answer('200 OK', `x${credentialMark}`)],
      ['a secret of a query', `an answer has the secret ${queryMark}`, answer('404 x', queryMark)],
      ['a command that is told back', undefined, answer('200 OK', queryMark), { echoesCommand: true }],
      [
        'a header that was injected',
        'a header was made of what a client sent',
        answer('200 OK', 'ok', 'x-injected: 1'),
      ],
      ['a redirect', 'a client is sent elsewhere with 302', answer('302 x', '')],
      ['half an answer', 'an answer 200 was broken off', good.slice(0, -1)],
      ['no answer', 'no answer', ''],
      ['two answers to one request', '2 answers to 1 requests', good + good],
      [
        'a request in a request',
        'answers 400, 200',
        answer('400 x', '') + good,
        { oneAnswer: true, methods: undefined },
      ],
      ['nonsense', 'no answer at all: "nonsense"', 'nonsense'],
    ];
  for (const [what, found, text, more] of table) {
    test(what, () => {
      const problems = judge({ ...asked, ...more }, heard(text));
      if (found === undefined) assert.deepEqual(problems, []);
      else
        assert.ok(
          problems.some((problem) => problem.startsWith(found)),
          problems.join('; '),
        );
    });
  }

  test('a connection that stays open', () => {
    assert.match(judge(asked, heard(good, { ended: false })).join(), /still open/);
  });

  test('in HTTP/2', () => {
    const frame = (type: number, flag: number, payload: string): string =>
      Buffer.from(
        `0000${(payload.length / 2).toString(16).padStart(2, '0')}0${type}0${flag}00000001${payload}`,
        'hex',
      ).toString('latin1');
    const over2 = { ...asked, protocol: 'http2', methods: undefined } as const;
    // 500, then 401 in the short form of digits.
    assert.match(judge(over2, heard(frame(1, 5, '8e'))).join(), /^$/);
    assert.match(judge(over2, heard(frame(1, 4, '8e') + frame(0, 1, '6f68'))).join(), /undocumented 500: "oh"/);
    assert.deepEqual(judge({ ...over2, entry: 'nobody' }, heard(frame(1, 5, '4803682fff'))), []);
    assert.match(judge({ ...over2, entry: 'nobody' }, heard(frame(1, 5, '88'))).join(), /may nothing got 200/);
    assert.match(judge(over2, heard('HTTP/1.1 400 Bad Request')).join(), /not HTTP\/2/);
  });

  test('in the log, and at the runtime', () => {
    const line = (letter: string, words: string): string => `${letter}1115 16:00:00.000000       1 a.ts:1] ${words}\n`;
    assert.deepEqual(judgeLog(line('I', '"Audit"') + line('E', '"Authorization error" err="x"')), []);
    assert.match(judgeLog(line('E', '"Request failed"')).join(), /an undocumented error/);
    assert.match(judgeLog(line('I', `"Audit" command="${queryMark}"`)).join(), /has the secret/);
    assert.match(
      judgeRuntimeHead(`POST / HTTP/1.1\r\nauthorization: Bearer adm.${credentialMark}.1`).join(),
      /was told/,
    );
  });

  test('a case is the same whenever it is asked for', () => {
    for (let number = 0; number < 50; number++) {
      const [one, other] = [makeCase(7, number, Buffer.from('hello')), makeCase(7, number, Buffer.from('hello'))];
      assert.equal(transcriptOf(one), transcriptOf(other));
    }
  });

  test('in the process', () => {
    const [found, source]: [string[], EventEmitter] = [[], new EventEmitter()];
    const unwatch = watchProcess((problem) => void found.push(problem), source);
    source.emit('unhandledRejection', new Error('lost'));
    source.emit('uncaughtException', new Error('thrown'));
    source.emit('warning', Object.assign(new Error('11 drain listeners'), { name: 'MaxListenersExceededWarning' }));
    source.emit('warning', Object.assign(new Error('old'), { name: 'DeprecationWarning' }));
    assert.deepEqual(
      found.map((problem) => problem.split('\n')[0]),
      [
        'nobody caught Error: lost',
        'nobody caught Error: thrown',
        'listeners are left: MaxListenersExceededWarning: 11 drain listeners',
      ],
    );
    unwatch();
    assert.deepEqual(source.eventNames(), []);
  });
});

describe('answers of 500 and above', () => {
  test('are those in docs/server.md', () => {
    const [, section = ''] = readFileSync('docs/server.md', 'utf8').split('\n## When the server fails\n');
    const rows = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('|'));
    // Without what a formatter does to tables.
    const plain = (table: string): string => table.replace(/-{3,}/g, '---').replace(/ *\| */g, '|');
    assert.equal(plain(rows.join('\n')), plain(failuresTable()), 'replace the table by the one expected here');
  });

  test('are those that the server has in its code', () => {
    const files = readdirSync('src/server', { recursive: true, encoding: 'utf8' });
    const inCode = new Set<string>();
    for (const file of files.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))) {
      const code = readFileSync(`src/server/${file}`, 'utf8');
      for (const [, status] of code.matchAll(/\b(?:text|plainAnswer)\((5\d\d)\b/g)) inCode.add(`${status} ${file}`);
    }
    const documented = documentedFailures.flatMap(({ status, from }) => from.map((file) => `${status} ${file}`));
    assert.deepEqual([...inCode].toSorted(), [...new Set(documented)].toSorted());
  });

  test('begin as the table says', () => {
    const endings: Readonly<Record<string, string>> = {
      'rpc error: code = ': 'Unknown desc = no',
      'no answer within ': '20 s',
      'checkpointing of ': 'a/b/c failed (no)',
      '[+]ping ok': '\n[-]syncloop failed: reason withheld\nhealthz check failed\n',
      '500 Internal Server Error': '\n',
      'Internal Server Error': '\n',
      'Service Unavailable': '\n',
    };
    for (const { words, body } of documentedFailures.filter((failure) => failure.from.length > 0))
      assert.match(`${words}${endings[words] ?? ''}`, body);
  });
});
