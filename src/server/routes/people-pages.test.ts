import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heartbeats, LoopHeartbeat } from '../../base/heartbeats.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { aRequest, readAnswer } from '../../testing/route-requests.ts';
import { configzHandler } from './configz.ts';
import { flagzHandler } from './flagz.ts';
import { statuszHandler, upFor } from './statusz.ts';
import { verbosityHandler } from './verbosity.ts';

test('/configz wraps the configuration', async () => {
  const answer = await readAnswer(await configzHandler({ kubeletconfig: { port: 10250 } })(aRequest()));
  assert.deepEqual([answer.status, answer.contentType], [200, 'application/json']);
  assert.equal(answer.body, '{"kubeletconfig":{"port":10250}}');
});

const flags = [
  ['v', '2'],
  ['address', '0.0.0.0'],
  ['odd', 'a\nb'],
] as const;
const linesOf = (body: string): readonly string[] => body.split('\n\n')[1]?.split('\n') ?? [];

for (const [next, delimiter] of [
  [0, ':'],
  [0.25, ': '],
  [0.5, '='],
  [0.99, ' '],
] as const) {
  test(`/flagz, sorted, one line each, with ${JSON.stringify(delimiter)} between`, async () => {
    const handler = flagzHandler({ random: { next: () => next }, flags });
    const { status, contentType, body } = await readAnswer(await handler(aRequest()));
    assert.deepEqual([status, contentType], [200, 'text/plain; charset=utf-8']);
    assert.match(body, /^\nkubelet flagz\n/);
    const expected = [`address${delimiter}0.0.0.0`, `odd${delimiter}"a\\nb"`, `v${delimiter}2`, ''];
    assert.deepEqual(linesOf(body), expected);
  });
}

test('who cannot read text gets neither page', async () => {
  const random = { next: () => 0 };
  const clock = new FakeClock();
  const startedAt = { wall: 0, monotonic: 0 };
  const about = {
    heartbeats: new Heartbeats(),
    startedAt,
    version: 'v1',
    nodeVersion: 'v20',
    paths: [],
    troubles: () => [],
  };
  const statusz = statuszHandler({ clock, random, ...about });
  for (const handler of [flagzHandler({ random, flags }), statusz]) {
    const refused = await readAnswer(await handler(aRequest({ headers: { accept: 'application/json' } })));
    assert.deepEqual([refused.status, refused.body], [406, 'media type not acceptable, must be: text/plain\n']);
    assert.equal((await handler(aRequest({ headers: { accept: 'text/plain' } }))).kind, 'page');
  }
});

test('/statusz: since when, which version, which paths', async () => {
  const clock = new FakeClock({ wall: Date.UTC(2025, 0, 2, 3, 4, 5) });
  const startedAt = { wall: clock.now(), monotonic: clock.monotonic() };
  const handler = statuszHandler({
    heartbeats: new Heartbeats(),
    clock,
    random: { next: () => 0.3 },
    startedAt,
    version: 'v1.34.0+tubelet.0.1.0',
    nodeVersion: 'v20.1.0',
    paths: ['/pods', '/exec/{namespace}/{pod}', '/exec/{namespace}', '/healthz', '/logs', '/logs/{file...}'],
    troubles: () => [],
  });
  await clock.advance(3_723_000);
  // A wall that is set meanwhile says nothing about how long we have been here.
  clock.setWall(0);
  const { body } = await readAnswer(await handler(aRequest()));
  assert.deepEqual(linesOf(body), [
    'Started: Thu, 02 Jan 2025 03:04:05 GMT',
    'Up: 1 hr 02 min 03 sec',
    'Node version: v20.1.0',
    'Binary version: v1.34.0+tubelet.0.1.0',
    'Emulation version: 1.34',
    'Paths: /exec /healthz /logs /pods',
    '',
  ]);
  assert.equal(upFor(100 * 3_600_000), '100 hr 00 min 00 sec');
});

test('/statusz: what is wrong, why and since when', async () => {
  const clock = new FakeClock();
  const startedAt = { wall: 0, monotonic: 0 };
  let troubles = [
    { what: 'Left of pod a', why: 'volumes are left: /v\nis still mounted', since: Date.UTC(2026, 0, 2) },
  ];
  const about = {
    heartbeats: new Heartbeats(),
    startedAt,
    version: 'v1.34.0',
    nodeVersion: 'v20',
    paths: [],
    troubles: () => troubles,
  };
  const handler = statuszHandler({ clock, random: { next: () => 0.3 }, ...about });
  const page = async (): Promise<readonly string[]> => linesOf((await readAnswer(await handler(aRequest()))).body);
  const line = 'Left of pod a: "volumes are left: /v\\nis still mounted (since Fri, 02 Jan 2026 00:00:00 GMT)"';
  assert.ok((await page()).includes(line), 'one line, whatever the reason holds');
  troubles = [];
  assert.equal(
    (await page()).some((text) => text.startsWith('Left')),
    false,
  );
});

test('/statusz: the loops, those in trouble first', async () => {
  const clock = new FakeClock({ wall: Date.UTC(2026, 0, 2) });
  const heartbeats = new Heartbeats();
  const loop = (name: string): LoopHeartbeat => {
    const made = new LoopHeartbeat({ name }, () => clock.monotonic());
    heartbeats.add(made);
    return made;
  };
  const startedAt = { wall: clock.now(), monotonic: clock.monotonic() };
  const about = { heartbeats, startedAt, version: 'v1', nodeVersion: 'v20', paths: [], troubles: () => [] };
  const handler = statuszHandler({ clock, random: { next: () => 0.3 }, ...about });
  const loops = async (): Promise<readonly string[]> =>
    linesOf((await readAnswer(await handler(aRequest()))).body).filter((line) => line.startsWith('Loop'));

  loop('stuck').began();
  const quiet = loop('quiet');
  quiet.began();
  await clock.advance(10_000);
  const unlucky = loop('unlucky');
  unlucky.failed();
  void quiet.waitFor(new Promise(() => {}));
  assert.deepEqual(await loops(), [
    'Loop unlucky: waiting after a failure since Fri, 02 Jan 2026 00:00:10 GMT, 1 failure',
    'Loop quiet: waiting since Fri, 02 Jan 2026 00:00:10 GMT',
    'Loop stuck: busy since Fri, 02 Jan 2026 00:00:00 GMT',
  ]);
  await clock.advance(600_000);
  unlucky.failed();
  assert.deepEqual(await loops(), [
    'Loop stuck: hung since Fri, 02 Jan 2026 00:00:00 GMT',
    'Loop unlucky: waiting after a failure since Fri, 02 Jan 2026 00:10:10 GMT, 2 failures in a row',
    'Loop quiet: waiting since Fri, 02 Jan 2026 00:00:10 GMT',
  ]);
  for (let number = 0; number < 200; number++) loop(`object ${number}`);
  const many = await loops();
  assert.deepEqual([many.length, many.at(-1)], [201, 'Loops not shown: 3']);
});

const levels: readonly (readonly [string, number | undefined])[] = [
  ['0', 0],
  ['5', 5],
  ['10\n', 10],
  ['11', undefined],
  ['-1', undefined],
  ['', undefined],
  ['5.5', undefined],
  ['0x5', undefined],
  ['five', undefined],
  ['9'.repeat(1_000), undefined],
];
for (const [body, level] of levels) {
  test(`verbosity ${JSON.stringify(body.slice(0, 10))}: ${level ?? 'refused'}`, async () => {
    const set: number[] = [];
    const handler = verbosityHandler({ setVerbosity: (verbosity) => set.push(verbosity) });
    const answer = await readAnswer(await handler(aRequest({ method: 'PUT', body })));
    assert.deepEqual(set, level === undefined ? [] : [level]);
    if (level !== undefined) {
      assert.deepEqual([answer.status, answer.body], [200, `successfully set klog.logging.verbosity to ${level}`]);
    } else {
      assert.equal(answer.status, 400);
      assert.match(
        answer.body,
        /^failed set klog\.logging\.verbosity ".{0,32}": must be a whole number from 0 to 10\n$/,
      );
    }
  });
}
