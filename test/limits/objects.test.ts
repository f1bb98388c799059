import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ConfigMap, Event } from '../../src/gen/kubernetes/types.ts';
import { apiResources } from '../../src/model/api-resources.ts';
import { aContainer } from '../../src/testing/pods.ts';
import { until } from '../support/real-wait.ts';
import { LimitNode } from './support/limit-node.ts';

const count = 260;
const names = Array.from({ length: count }, (_, index) => `big-${index}`);

let node: LimitNode;
before(async () => {
  node = await LimitNode.start('objects');
  const data = { value: 'x'.repeat(1_000_000) };
  for (const name of names) put({ metadata: { name, namespace: 'default' }, data });
  put({ metadata: { name: 'usual', namespace: 'default' }, data: { A: 'b' } });
});
after(() => node?.destroy());

function put(object: ConfigMap): void {
  node.api.objects.put<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', ...object });
}

const warnings = (name: string): readonly string[] =>
  node.api.objects
    .all<Event>(apiResources.events)
    .filter(({ involvedObject, type }) => involvedObject?.name === name && type === 'Warning')
    .map(({ reason, message }) => `${reason}: ${message}`);

test('a pod that names 260 ConfigMaps of 1 MB waits and is told why; others notice nothing', async () => {
  const told =
    /failed to sync configmap cache: the 260 ConfigMaps and Secrets that the pod names take more than 16 MiB/;
  const usual = { envFrom: [{ configMapRef: { name: 'usual' } }] };
  const endured = await node.during(async () => {
    node.schedule('by-env', {
      containers: [aContainer('main', { envFrom: names.map((name) => ({ configMapRef: { name } })) })],
    });
    node.schedule('by-volume', {
      volumes: [{ name: 'all', projected: { sources: names.map((name) => ({ configMap: { name } })) } }],
      containers: [aContainer('main', { volumeMounts: [{ name: 'all', mountPath: '/all' }] })],
    });
    node.schedule('usual', { containers: [aContainer('main', usual)] });
    await node.ready('usual');
    await until('the one is told', () => warnings('by-env').some((text) => told.test(text)), {
      timeoutMs: 60_000,
      state: () => ({ told: warnings('by-env'), status: node.pod('by-env')?.status }),
    });
    await until(
      'and the other',
      () => warnings('by-volume').some((text) => text.startsWith('FailedMount: ') && told.test(text)),
      {
        timeoutMs: 60_000,
        state: () => warnings('by-volume'),
      },
    );
    // The event is recorded at once, the status goes out with the next write.
    const reason = (): string | undefined => node.pod('by-env')?.status?.containerStatuses?.[0]?.state?.waiting?.reason;
    await until('its status says so', () => reason() === 'CreateContainerConfigError', {
      timeoutMs: 60_000,
      state: reason,
    });
  });
  assert.ok(endured.rssPeakKb - endured.rssBeforeKb < 200 * 1024, JSON.stringify(endured));
  for (const name of ['by-env', 'by-volume', 'usual']) await node.remove(name);
  await node.memoryReturns(endured.rssBeforeKb + 60 * 1024);
});
