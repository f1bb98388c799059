import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aRequest, readAnswer } from '../../testing/route-requests.ts';
import { debugNodeHandler, debugPodHandler } from './debug.ts';

const asked: string[] = [];
const podHandler = debugPodHandler({
  pod: (uid) => {
    asked.push(uid);
    return uid === 'uid-1' ? { uid, decisions: [] } : undefined;
  },
});

test('the page of a pod, by its uid', async () => {
  const { status, contentType, body } = await readAnswer(await podHandler(aRequest({ params: { uid: 'uid-1' } })));
  assert.deepEqual([status, contentType], [200, 'application/json']);
  assert.deepEqual(JSON.parse(body), { uid: 'uid-1', decisions: [] });
});

test('a pod that is not on record is a 404 that names the other page', async () => {
  const { status, contentType, body } = await readAnswer(await podHandler(aRequest({ params: { uid: '<b>x' } })));
  assert.deepEqual([status, contentType], [404, 'text/plain; charset=utf-8']);
  assert.match(
    body,
    /^no decision about a pod with this uid is on record: .*\/debug\/node lists the pods that are\.\n$/,
  );
  assert.equal(asked.at(-1), '<b>x');
});

test('the page of the node', async () => {
  const answer = await debugNodeHandler({ node: () => ({ decisions: [], pods: [] }) })(aRequest());
  assert.deepEqual(JSON.parse((await readAnswer(answer)).body), { decisions: [], pods: [] });
});
