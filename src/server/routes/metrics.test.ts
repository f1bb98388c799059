import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import { aRequest, readAnswer } from '../../testing/route-requests.ts';
import { metricsContentType, metricsHandler, streamedMetricsHandler } from './metrics.ts';
import { metricsSlisHandler } from './metrics-slis.ts';

const small = 'process_start_time_seconds 1\n';
const large = small.repeat(1_000);
const gzip = { 'accept-encoding': 'gzip' };

const contentTypes: readonly (readonly [string | undefined, string])[] = [
  [undefined, 'underscores'],
  ['*/*', 'underscores'],
  ['text/plain;version=0.0.4', 'underscores'],
  // As Prometheus asks.
  [
    'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
    'allow-utf-8',
  ],
  ['text/plain;version=0.0.4;escaping=dots', 'dots'],
  ['text/plain;escaping=nonsense\u0000', 'underscores'],
  ['text/plain;version=0.0.4,*/*;escaping=dots;q=0.1', 'underscores'],
];
for (const [accept, escaping] of contentTypes) {
  test(`Accept ${accept}: ${escaping}`, () => {
    assert.equal(metricsContentType(accept), `text/plain; version=0.0.4; charset=utf-8; escaping=${escaping}`);
  });
}

test('a page is compressed when it is large and may be', async () => {
  const ask = async (body: string, headers = {}) =>
    readAnswer(await metricsHandler(async () => body)(aRequest({ headers })));
  const plain = await ask(large);
  assert.deepEqual([plain.status, plain.body, plain.headers], [200, large, {}]);
  assert.equal(plain.contentType, 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores');
  assert.deepEqual((await ask(small, gzip)).headers, {});
  const packed = await ask(large, gzip);
  assert.equal(packed.headers['content-encoding'], 'gzip');
  assert.equal(packed.body, large);
  assert.ok(packed.bytes.length < large.length / 10);
});

async function* chunks(count: number) {
  for (let index = 0; index < count; index++) yield `a{i="${index}"} ${index}\n`.repeat(100);
}

test('a streamed page is the same, compressed or not', async () => {
  const handler = streamedMetricsHandler(() => chunks(200));
  const plain = await readAnswer(await handler(aRequest()));
  assert.equal(plain.writes, 200);
  const packed = await readAnswer(await handler(aRequest({ headers: gzip })));
  assert.equal(packed.headers['content-encoding'], 'gzip');
  assert.equal(packed.body, plain.body);
  assert.ok(packed.bytes.length < plain.bytes.length / 5);
});

for (const headers of [{}, gzip]) {
  const how = 'accept-encoding' in headers ? 'compressed' : 'plain';

  test(`a client that goes ends the making of a ${how} page`, async () => {
    let ended = false;
    const handler = streamedMetricsHandler(async function* () {
      try {
        // Text that does not compress, so that something must be written soon.
        for (let index = 0; ; index++) yield String(Math.sin(index)).repeat(4_000);
      } finally {
        ended = true;
      }
    });
    const answer = await handler(aRequest({ headers }));
    assert.equal(answer.kind, 'stream');
    if (answer.kind !== 'stream') return;
    const gone = new TubeletError('cancelled', 'gone');
    const write = async (): Promise<void> => Promise.reject(gone);
    await assert.rejects(answer.send({ write }, new AbortController().signal), gone);
    assert.equal(ended, true);
  });

  test(`a ${how} page that fails on the way is broken off`, async () => {
    const handler = streamedMetricsHandler(async function* () {
      yield large;
      throw new Error('the disk is gone');
    });
    await assert.rejects(readAnswer(await handler(aRequest({ headers }))), /the disk is gone/);
  });
}

test('a slow client slows the making of a compressed page', async () => {
  let made = 0;
  const handler = streamedMetricsHandler(async function* () {
    for (; made < 10_000; made++) {
      yield Array.from({ length: 500 }, (_, index) => Math.sin(made * 500 + index)).join(' ');
    }
  });
  const answer = await handler(aRequest({ headers: gzip }));
  assert.equal(answer.kind, 'stream');
  if (answer.kind !== 'stream') return;
  const gone = new TubeletError('cancelled', 'gone');
  let leave: () => void = () => {};
  let began: () => void = () => {};
  const writing = new Promise<void>((resolve) => void (began = resolve));
  const write = () =>
    new Promise<void>((_resolve, reject) => {
      leave = () => reject(gone);
      began();
    });
  const sent = answer.send({ write }, new AbortController().signal);
  sent.catch(() => undefined);
  await writing;
  let before = -1;
  for (let quiet = 0; quiet < 200; quiet = made === before ? quiet + 1 : 0) {
    before = made;
    await new Promise(setImmediate);
  }
  assert.ok(made < 200, `${made} pieces were made`);
  leave();
  await assert.rejects(sent, gone);
});

test('/metrics/slis shows, and DELETE forgets', async () => {
  let resets = 0;
  const handler = metricsSlisHandler({ render: () => small, reset: () => void resets++ });
  assert.equal((await readAnswer(await handler(aRequest()))).body, small);
  assert.equal(resets, 0);
  const answer = await readAnswer(await handler(aRequest({ method: 'DELETE' })));
  assert.deepEqual([answer.status, answer.body, resets], [200, 'metrics reset\n', 1]);
});
