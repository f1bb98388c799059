import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import { aRequest, readAnswer, type RequestOptions } from '../../testing/route-requests.ts';
import { profileHandlers, secondsOf, type ProfileDeps } from './profile.ts';

function start(more: Partial<ProfileDeps['profiler']> = {}) {
  const asked: string[] = [];
  const profiler: ProfileDeps['profiler'] = {
    busyWith: undefined,
    cpu: async (seconds) => {
      asked.push(`cpu ${seconds}`);
      return Buffer.from('cpu');
    },
    heap: async (type, seconds) => {
      asked.push(`${type} ${seconds}`);
      return Buffer.from(type);
    },
    trace: async (seconds) => {
      asked.push(`trace ${seconds}`);
      return [{ name: 'a' }];
    },
    heapSnapshot: async (write) => {
      asked.push('snapshot');
      await write(Buffer.from('{}'));
    },
    ...more,
  };
  const handlers = profileHandlers({ profiler, argv: ['tubelet', '--manifest-url-header=X:y', '--v=2'] });
  const ask = async (name: string, options: RequestOptions = {}) =>
    readAnswer(
      await (name === 'heapsnapshot' ? handlers.heapSnapshot : handlers.profile)(
        aRequest({ params: { name }, ...options }),
      ),
    );
  return { asked, ask, handlers };
}

const binary = 'application/octet-stream';
const recordings: readonly (readonly [string, string, string, string, string])[] = [
  ['profile', '', 'cpu 30', binary, 'cpu'],
  ['profile', 'seconds=5', 'cpu 5', binary, 'cpu'],
  ['profile', 'seconds=0', 'cpu 30', binary, 'cpu'],
  ['profile', 'seconds=-1', 'cpu 30', binary, 'cpu'],
  ['profile', 'seconds=300', 'cpu 300', binary, 'cpu'],
  ['heap', '', 'inuse_space 10', binary, 'inuse_space'],
  ['allocs', 'seconds=1&debug=1', 'alloc_space 1', binary, 'alloc_space'],
  ['trace', '', 'trace 1', 'application/json', '{"traceEvents":[{"name":"a"}]}'],
  ['heapsnapshot', '', 'snapshot', 'application/json', '{}'],
];
for (const [name, query, expected, contentType, body] of recordings) {
  test(`${name}?${query}: ${expected}`, async () => {
    const { asked, ask } = start();
    const answer = await ask(name, { query });
    assert.deepEqual([answer.status, answer.contentType, answer.body], [200, contentType, body]);
    assert.match(answer.headers['content-disposition'] ?? '', /^attachment; filename="[\w.]+"$/);
    assert.deepEqual(asked, [expected]);
  });
}

test('too long is refused, and only headers need no recording', async () => {
  const { asked, ask } = start();
  for (const name of ['profile', 'heap', 'allocs', 'trace']) {
    const answer = await ask(name, { query: 'seconds=301' });
    assert.deepEqual([answer.status, answer.body], [400, 'seconds must be at most 300\n']);
    assert.equal((await ask(name, { method: 'HEAD' })).status, 200);
  }
  assert.deepEqual(asked, []);
});

test('a request while another is served is refused, in a way that go tool pprof shows', async () => {
  const refuse = (): Promise<never> => Promise.reject(new TubeletError('conflict', 'one profile at a time'));
  const { ask } = start({ busyWith: 'heap', cpu: refuse, heap: refuse, trace: refuse });
  for (const name of ['profile', 'heap', 'allocs', 'trace', 'heapsnapshot']) {
    const answer = await ask(name);
    assert.equal(answer.status, 409, name);
    assert.match(answer.body, /^one profile at a time/);
    assert.equal(answer.headers['x-go-pprof'], '1');
  }
});

test('other failures are for the listener to answer', async () => {
  const { ask } = start({ cpu: () => Promise.reject(new Error('no engine')) });
  await assert.rejects(ask('profile'), /no engine/);
});

for (const name of ['goroutine', 'threadcreate', 'block', 'mutex']) {
  test(`${name} is not there, and why is said`, async () => {
    const answer = await start().ask(name);
    assert.equal(answer.status, 404);
    assert.match(answer.body, new RegExp(`^${name}: \\w.*\\n$`));
  });
}
for (const name of ['', 'nothing', 'constructor', '__proto__', '<script>']) {
  test(`${JSON.stringify(name)} is not known`, async () => {
    const answer = await start().ask(name);
    assert.deepEqual([answer.status, answer.body], [404, 'Unknown profile\n']);
  });
}

test('no name is a way around the right that a snapshot of the heap needs', async () => {
  const { asked, handlers } = start();
  const answer = await readAnswer(await handlers.profile(aRequest({ params: { name: 'heapsnapshot' } })));
  assert.deepEqual([answer.status, asked], [404, []]);
});

test('index, cmdline and symbol', async () => {
  const { ask, handlers } = start();
  const { body } = await readAnswer(await handlers.profileIndex(aRequest()));
  const listed = [...body.matchAll(/^\/debug\/pprof\/(\w+) /gm)].map(([, name]) => name);
  assert.deepEqual(listed, ['allocs', 'cmdline', 'heap', 'heapsnapshot', 'profile', 'symbol', 'trace']);
  assert.equal((await ask('cmdline')).body, 'tubelet\0--manifest-url-header=<masked>\0--v=2');
  assert.equal((await ask('symbol')).body, 'num_symbols: 1\n');
});

test('seconds', () => {
  assert.deepEqual(
    [null, '', '1', '01', '1.5', '1e2', 'x', '300', '301', '9'.repeat(400)].map((asked) => secondsOf(asked, 30)),
    [30, 30, 1, 1, 30, 30, 30, 300, undefined, undefined],
  );
});
