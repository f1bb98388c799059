import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { TubeletError } from '../../base/errors.ts';
import { openNodeLog } from '../../host/log-files.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import type { RouteRequest, RouteResponse } from '../route.ts';
import { nodeLogsHandler } from '../routes/node-logs.ts';
import type { JournalRunner } from './ports.ts';

let home = '';
let root = '';
let pods = '';
let clock = new FakeClock();
let calls: (readonly string[])[] = [];
/** What journalctl does, but for listing units. */
let journal: JournalRunner['run'] = async () => ({ kind: 'ended' });
let units = 'kubelet.service\n';

const runner: JournalRunner = {
  run: async (args, output, signal) => {
    if (args[0] === '--field') {
      await output(Buffer.from(units));
      return { kind: 'ended' };
    }
    calls.push(args);
    return journal(args, output, signal);
  },
};

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  readonly body: string;
}

async function ask(
  file: string,
  query = '',
  options: { readonly query?: boolean; readonly gzip?: boolean } = {},
): Promise<Answer> {
  const handler = nodeLogsHandler({
    clock,
    files: { open: openNodeLog },
    journal: runner,
    root,
    alsoBelow: [pods],
    query: options.query ?? true,
  });
  const request: RouteRequest = {
    listener: 'secure',
    method: 'GET',
    path: '/logs',
    query: new URLSearchParams(query),
    params: file === '' ? {} : { file },
    headers: options.gzip === true ? { 'accept-encoding': 'gzip' } : {},
    body: Buffer.alloc(0),
    caller: undefined,
    wantsUpgrade: false,
    signal: new AbortController().signal,
  };
  return received(await handler(request));
}

async function received(response: RouteResponse): Promise<Answer> {
  assert.ok(response.kind !== 'handOver');
  const chunks: Buffer[] = [];
  if (response.kind === 'page') chunks.push(Buffer.from(response.body));
  else {
    const sink = { write: async (chunk: Uint8Array | string) => void chunks.push(Buffer.from(chunk)) };
    await response.send(sink, new AbortController().signal);
  }
  const bytes = Buffer.concat(chunks);
  const { status, contentType, headers = {} } = response;
  return { status, contentType, headers, bytes, body: bytes.toString() };
}

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'node-logs-'));
  root = join(home, 'log');
  pods = join(home, 'pods');
  for (const folder of [root, pods, join(root, 'sub')]) mkdirSync(folder);
  writeFileSync(join(root, 'a.log'), 'content of a\n');
  writeFileSync(join(root, 'sub', 'b.log'), 'b\n');
  writeFileSync(join(home, 'secret'), 'secret\n');
  writeFileSync(join(pods, 'p.log'), 'of a pod\n');
  clock = new FakeClock();
  calls = [];
  journal = async () => ({ kind: 'ended' });
  units = 'kubelet.service\n';
});
afterEach(() => rmSync(home, { recursive: true }));

describe('files of the node', () => {
  test('are given with their type and age', async () => {
    utimesSync(join(root, 'a.log'), 1, Date.UTC(2026, 0, 2, 3, 4, 5) / 1_000);
    const answer = await ask('a.log');
    assert.equal(answer.status, 200);
    assert.equal(answer.body, 'content of a\n');
    assert.equal(answer.contentType, 'text/plain; charset=utf-8');
    assert.equal(answer.headers['last-modified'], 'Fri, 02 Jan 2026 03:04:05 GMT');
  });

  test('are given whole when they are large', async () => {
    const content = Buffer.alloc(300_000, 'abc\n');
    writeFileSync(join(root, 'large'), content);
    assert.ok((await ask('large')).bytes.equals(content));
  });

  test('are listed', async () => {
    for (const path of ['', '/', 'sub/..', 'sub/../']) {
      const { body, status, contentType } = await ask(path);
      assert.equal(status, 200);
      assert.equal(contentType, 'text/html; charset=utf-8');
      assert.match(body, /<a href="\/logs\/a.log">a.log<\/a>\n<a href="\/logs\/sub\/">sub\/<\/a>\n/);
    }
    assert.match((await ask('sub')).body, /<a href="\/logs\/sub\/b.log">b.log<\/a>/);
  });

  test('that are not there are not found', async () => {
    for (const path of ['no', 'a.log/x', 'a\0', 'x'.repeat(300), 'x/'.repeat(3_000)]) {
      const { status, body } = await ask(path);
      assert.deepEqual({ status, body }, { status: 404, body: '404 page not found\n' });
    }
  });

  test('are not given from elsewhere, by whatever way', async () => {
    symlinkSync(join(home, 'secret'), join(root, 'link'));
    symlinkSync('/', join(root, 'rootlink'));
    symlinkSync('../secret', join(root, 'sub', 'relative'));
    symlinkSync('circle', join(root, 'circle'));
    mkdirSync(join(home, 'log-of-others'));
    symlinkSync(join(home, 'log-of-others'), join(root, 'neighbour'));
    for (const path of ['link', 'rootlink', 'rootlink/etc/passwd', 'circle', 'neighbour']) {
      const { status, body } = await ask(path);
      assert.deepEqual({ status, body }, { status: 403, body: '403 Forbidden\n' }, path);
    }
    assert.equal((await ask('../secret')).status, 404);
    assert.equal((await ask('..%2fsecret')).status, 404);
    assert.equal((await ask('sub/relative')).status, 404);
  });

  test('are given by links that stay inside or lead to the pods', async () => {
    symlinkSync('../a.log', join(root, 'sub', 'inside'));
    symlinkSync(join(pods, 'p.log'), join(root, 'pod.log'));
    assert.equal((await ask('sub/inside')).body, 'content of a\n');
    assert.equal((await ask('pod.log')).body, 'of a pod\n');
  });

  test('are files: no pipe is waited for', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    assert.equal((await ask('pipe')).status, 403);
    assert.equal((await ask('', 'query=pipe')).body, '\nerror getting log for pipe: permission denied\n');
  });
});

describe('a query', () => {
  test('is not heard when queries are off', async () => {
    assert.match((await ask('', 'query=kubelet', { query: false })).body, /<pre>/);
    assert.deepEqual(calls, []);
  });

  test('for a file gives the file, or says what is wrong', async () => {
    assert.equal((await ask('', 'query=/a.log')).body, 'content of a\n');
    assert.match((await ask('', 'query=sub/')).body, /b.log/);
    const { status, body } = await ask('', 'query=/no.log');
    assert.equal(status, 406);
    assert.equal(body, 'query: Invalid value: ["/no.log"]: stat /no.log: no such file or directory\n');
    assert.equal((await ask('a.log', 'query=/a.log')).status, 406);
  });

  test('for a service of the journal gives what it prints', async () => {
    journal = async (_args, output) => {
      await output(Buffer.from('one\n'));
      await output(Buffer.from('two\n'));
      return { kind: 'ended' };
    };
    const { status, contentType, body } = await ask('', 'query=kubelet&tailLines=2');
    assert.deepEqual(
      { status, contentType, body },
      { status: 200, contentType: 'text/plain;charset=UTF-8', body: 'one\ntwo\n' },
    );
    assert.deepEqual(calls, [
      ['--utc', '--no-pager', '--output=short-precise', '--pager-end', '--lines=2', '--unit=kubelet'],
    ]);
  });

  test('is answered compressed to who takes it so', async () => {
    journal = async (_args, output) => {
      for (let round = 0; round < 200; round++) await output(Buffer.alloc(10_000, 0x61));
      return { kind: 'ended' };
    };
    const answer = await ask('', 'query=kubelet', { gzip: true });
    assert.equal(answer.headers['content-encoding'], 'gzip');
    assert.equal(gunzipSync(answer.bytes).length, 2_000_000);
    assert.ok(answer.bytes.length < 100_000);
  });

  test('for other services opens their files', async () => {
    mkdirSync(join(root, 'deep'));
    writeFileSync(join(root, 'deep', 'deep.log'), 'deep\n');
    const { body } = await ask('', 'query=a&query=deep&query=no&query=..');
    assert.equal(body, 'content of a\ndeep\n\nlog not found for no\n\nerror getting log for ..: permission denied\n');
    assert.equal(
      (await ask('', 'query=a&query=no&boot=0')).body,
      '\noptions present and query resolved to log files for [a no]\ntry without specifying options\n',
    );
  });

  test('says when there is no journal', async () => {
    journal = async () => ({ kind: 'notStarted', why: 'ENOENT' });
    assert.equal((await ask('', 'query=kubelet')).body, '\nerror: journal output not available\n');
    assert.equal((await ask('', 'query=kubelet&boot=-1')).body, '');
    units = '';
    assert.equal((await ask('', 'query=kubelet')).body, '\nlog not found for kubelet\n');
  });

  test('ends after half a minute, and what comes late is not in the answer', async () => {
    let late = (): Promise<void> => assert.fail('not begun');
    journal = (_args, output, signal) => {
      late = () => output(Buffer.from('late'));
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    const answer = ask('', 'query=kubelet');
    await clock.advance(30_000);
    assert.equal((await answer).body, '\nerror: the query took longer than 30 s\n');
    await assert.rejects(late());
    assert.equal(clock.pending(), 0);
  });

  test('ends with its client, compressed or not', async () => {
    journal = async (_args, output) => {
      for (;;) await output(Buffer.alloc(100_000, 0x61));
    };
    for (const gzip of [false, true]) {
      const handler = nodeLogsHandler({
        clock,
        files: { open: openNodeLog },
        journal: runner,
        root,
        alsoBelow: [],
        query: true,
      });
      const response = await handler({
        query: new URLSearchParams('query=kubelet'),
        params: {},
        headers: gzip ? { 'accept-encoding': 'gzip' } : {},
      } as unknown as RouteRequest);
      assert.ok(response.kind === 'stream');
      const sink = { write: () => Promise.reject(new TubeletError('cancelled', 'gone')) };
      await assert.rejects(response.send(sink, new AbortController().signal), { kind: 'cancelled' });
    }
  });
});
