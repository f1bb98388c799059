import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aRequest, readAnswer } from '../testing/route-requests.ts';
import { text, type Handler } from './route.ts';
import { routeTable, type Handlers } from './route-table.ts';
import { fullRoutes, ServedRoutes } from './served-routes.ts';

function handlersThat(answer: Handler): Handlers {
  return Object.fromEntries(Object.keys(routeTable).map((id) => [id, answer])) as Handlers;
}

const says = (word: string): Handlers => handlersThat(async () => text(200, word));

async function ask(served: ServedRoutes): Promise<readonly string[]> {
  const answers = await Promise.all(served.routes.map(async ({ handler }) => handler(aRequest())));
  const bodies = await Promise.all(answers.map(async (answer) => (await readAnswer(answer)).body));
  return [...new Set(bodies)];
}

test('every route of the table answers as at boot, and as the whole agent from its turn on', async () => {
  const served = new ServedRoutes(says('boot'));
  assert.deepEqual(
    served.routes.map(({ spec }) => spec),
    Object.values(routeTable),
  );
  assert.deepEqual(await ask(served), ['boot']);
  const component = fullRoutes(served, says('whole'));
  assert.deepEqual(await ask(served), ['boot'], 'what is only made changes nothing');
  await component.start(new AbortController().signal);
  assert.deepEqual(await ask(served), ['whole']);
  await component.stop();
});

test('a request that has begun keeps the handler it has', async () => {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => void (resolve = done));
  const served = new ServedRoutes(
    handlersThat(async () => {
      await promise;
      return text(200, 'boot');
    }),
  );
  const [route] = served.routes;
  assert.ok(route !== undefined);
  const begun = route.handler(aRequest());
  served.replace(says('whole'));
  resolve();
  assert.equal((await readAnswer(await begun)).body, 'boot');
});
