import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Pod } from '../../gen/kubernetes/types.ts';
import { podObject } from '../../model/desired-pod.ts';
import { anInstance, aPod, aSandbox, exited, observedPod } from '../../testing/pods.ts';
import { aRequest, readAnswer } from '../../testing/route-requests.ts';
import { podsHandler } from './pods.ts';
import { runningPodsHandler } from './running-pods.ts';

const golden = JSON.parse(readFileSync('test/golden/node/pods.json', 'utf8')) as { items: readonly Pod[] };

test('the page of a recorded node, byte for byte', async () => {
  const pods = golden.items.map((pod) => ({ kind: 'Pod', apiVersion: 'v1', ...pod }));
  const { status, contentType, body } = await readAnswer(
    await podsHandler({ pods: () => pods, isStandalone: false })(aRequest()),
  );
  assert.deepEqual([status, contentType], [200, 'application/json']);
  assert.equal(body, JSON.stringify(golden));
});

test('a condition without a probe says so', async () => {
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-11-15T08:19:03Z' }];
  const { body } = await readAnswer(
    await podsHandler({ pods: () => [{ status: { conditions } }], isStandalone: false })(aRequest()),
  );
  const shown = '{"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-11-15T08:19:03Z"}';
  assert.ok(body.includes(`"conditions":[${shown}]`), body);
});

test('on the open ports, values that may be secrets are masked, and nothing else', async () => {
  const value = 'open-sesame';
  const httpGet = { port: 80, path: '/ready', httpHeaders: [{ name: 'X-Key', value }] };
  const container = {
    name: 'main',
    env: [
      { name: 'A', value },
      { name: 'B', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
      { name: 'EMPTY', value: '' },
    ],
    livenessProbe: { httpGet },
    readinessProbe: { exec: { command: ['check'] } },
    startupProbe: { httpGet },
    lifecycle: { preStop: { httpGet }, postStart: { httpGet } },
  };
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(container), other: 'stays' };
  const ephemeralContainers = [{ name: 'debug', env: [{ name: 'A', value }] }];
  const spec = { containers: [container], initContainers: [container], ephemeralContainers };
  const pod: Pod = { metadata: { name: 'p', annotations }, spec };
  const handler = podsHandler({ pods: () => [pod], isStandalone: true });
  const shown = async (listener: 'readOnly' | 'socket' | 'secure') =>
    (await readAnswer(await handler(aRequest({ listener })))).body;
  const masked = await shown('readOnly');
  assert.ok(!masked.includes(value), masked);
  const { items } = JSON.parse(masked) as { items: [Pod] };
  const first = items[0].spec?.containers[0];
  assert.deepEqual(first?.env, [{ name: 'A', value: '<masked>' }, container.env[1], { name: 'EMPTY', value: '' }]);
  assert.deepEqual(first?.readinessProbe, container.readinessProbe);
  assert.deepEqual(first?.startupProbe, {
    httpGet: { ...httpGet, httpHeaders: [{ name: 'X-Key', value: '<masked>' }] },
  });
  assert.equal(items[0].metadata?.annotations?.['other'], 'stays');
  for (const listener of ['socket', 'secure'] as const) {
    assert.deepEqual((JSON.parse(await shown(listener)) as { items: [Pod] }).items[0], pod);
  }
});

test('no pods: an empty list', async () => {
  const { body } = await readAnswer(await podsHandler({ pods: () => [], isStandalone: false })(aRequest()));
  assert.equal(body, '{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]}');
});

test('mirror pods are left out', async () => {
  const own = podObject(aPod({ name: 'static' }), { phase: 'Running' });
  const annotations = { 'kubernetes.io/config.mirror': 'hash' };
  const mirror = podObject(aPod({ name: 'mirror', source: 'api', metadata: { annotations } }));
  const { body } = await readAnswer(await podsHandler({ pods: () => [own, mirror], isStandalone: false })(aRequest()));
  const { items } = JSON.parse(body) as { items: readonly Pod[] };
  assert.deepEqual(
    items.map(({ metadata, status }) => [metadata?.name, status]),
    [['static', { phase: 'Running' }]],
  );
});

test('five hundred pods go out in pieces, and others get their turn between them', async () => {
  let written = 0;
  const filler = 'x'.repeat(8_000);
  const pods = Array.from({ length: 500 }, (_, index): Pod => {
    const toJSON = (): unknown => {
      written++;
      return { phase: 'Running', message: filler };
    };
    return { metadata: { name: `p${index}` }, status: { toJSON } as unknown as NonNullable<Pod['status']> };
  });
  const perTurn: number[] = [];
  let counted = 0;
  let watching = true;
  const watch = (): void => {
    perTurn.push(written - counted);
    counted = written;
    if (watching) setImmediate(watch);
  };
  setImmediate(watch);
  const { body, writes } = await readAnswer(await podsHandler({ pods: () => pods, isStandalone: false })(aRequest()));
  watching = false;
  watch();
  const { items } = JSON.parse(body) as { items: readonly Pod[] };
  assert.deepEqual(
    items.map(({ metadata }) => metadata?.name),
    pods.map(({ metadata }) => metadata?.name),
  );
  assert.ok(writes > 10, `${writes} writes`);
  assert.ok(Math.max(...perTurn) <= 20, `${Math.max(...perTurn)} pods within one turn`);
});

test('a client that goes in the middle ends the work', async () => {
  const pods = Array.from({ length: 500 }, () => ({ metadata: { name: 'x'.repeat(10_000) } }));
  const answer = await podsHandler({ pods: () => pods, isStandalone: false })(aRequest());
  assert.equal(answer.kind, 'stream');
  if (answer.kind !== 'stream') return;
  const controller = new AbortController();
  let writes = 0;
  const write = async (): Promise<void> => {
    if (++writes === 2) controller.abort(new Error('gone'));
  };
  await assert.rejects(answer.send({ write }, controller.signal), /gone/);
  assert.equal(writes, 2);
});

test('/runningpods: only what runs, by name and image', async () => {
  const observed = [
    observedPod([aSandbox('s0')], [anInstance('b'), anInstance('a', exited(1))], 'uid-1'),
    observedPod([aSandbox('s1')], [], 'uid-2'),
    observedPod([aSandbox('s2', { state: 'notReady' })], [anInstance('gone', exited(0))], 'uid-3'),
  ];
  const { body } = await readAnswer(await runningPodsHandler({ observed: () => observed })(aRequest()));
  const pod = (uid: string, containers: readonly object[]) => ({
    metadata: { name: 'web', namespace: 'default', uid },
    spec: { containers },
    status: {},
  });
  assert.deepEqual(JSON.parse(body), {
    kind: 'PodList',
    apiVersion: 'v1',
    metadata: {},
    items: [pod('uid-1', [{ name: 'b', image: 'localhost/test/busybox:1', resources: {} }]), pod('uid-2', [])],
  });
});
