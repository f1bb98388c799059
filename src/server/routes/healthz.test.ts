import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { aRequest, readAnswer, type RequestOptions } from '../../testing/route-requests.ts';
import { healthzHandlers, type HealthProblems } from './healthz.ts';

const golden = (name: string): string => readFileSync(`test/golden/node/${name}`, 'utf8');
const nothing = (): undefined => undefined;

function start(problems: Partial<HealthProblems> = {}) {
  const observed: string[] = [];
  const handlers = healthzHandlers({
    problems: { log: nothing, syncloop: nothing, 'device-plugin': nothing, ...problems },
    observe: (name) => observed.push(name),
  });
  const ask = async (options: RequestOptions, name: keyof typeof handlers = 'healthz') =>
    readAnswer(await handlers[name](aRequest(options)));
  return { ask, observed };
}

test('the pages of a recorded node', async () => {
  const { ask, observed } = start();
  for (const listener of ['secure', 'readOnly'] as const) {
    assert.equal((await ask({ listener, query: 'verbose' })).body, golden('healthz-10250.txt'));
  }
  observed.length = 0;
  assert.equal((await ask({ listener: 'healthz', query: 'verbose' })).body, golden('healthz.txt'));
  assert.deepEqual(observed, ['ping']);
});

test('what is wrong elsewhere does not trouble the health listener', async () => {
  const { ask } = start({ syncloop: () => 'stuck' });
  assert.equal((await ask({ listener: 'healthz' })).body, 'ok');
  const { status, body } = await ask({});
  assert.equal(status, 500);
  assert.equal(
    body,
    '[+]ping ok\n[+]log ok\n[-]syncloop failed: reason withheld\n[+]device-plugin ok\nhealthz check failed\n',
  );
  assert.equal((await ask({ query: 'exclude=syncloop&exclude=log' })).body, 'ok');
});

test('single pages are not counted, and say why only to those who are known', async () => {
  const { ask, observed } = start({ log: () => 'EPIPE' });
  assert.equal((await ask({}, 'healthzPing')).body, 'ok');
  assert.equal((await ask({}, 'healthzSyncloop')).body, 'ok');
  assert.equal((await ask({}, 'healthzDevicePlugin')).body, 'ok');
  assert.equal((await ask({}, 'healthzLog')).body, 'internal server error: EPIPE\n');
  const open = await ask({ listener: 'readOnly' }, 'healthzLog');
  assert.deepEqual([open.status, open.body], [500, 'internal server error: reason withheld\n']);
  assert.deepEqual(observed, []);
});
