import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../base/system-clock.ts';
import type { Pod } from '../gen/kubernetes/types.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { httpGet } from './http-probe.ts';
import { sampleLabel } from './sample-pod.ts';
import { answers, fetchPods, readinessOf } from './watch-pods.ts';

function pod(ready: boolean, more: { sample?: boolean; phase?: string; port?: number; ip?: string } = {}): Pod {
  return {
    metadata: { name: 'p', labels: more.sample === true ? { [sampleLabel]: 'true' } : {} },
    spec: {
      containers: [{ name: 'c', ...(more.port === undefined ? {} : { ports: [{ containerPort: more.port }] }) }],
    },
    status: {
      phase: more.phase ?? 'Running',
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      ...(more.ip === undefined ? {} : { podIP: more.ip }),
    },
  };
}

const cases: readonly { name: string; pods: Pod[]; expected: boolean; want: ReturnType<typeof readinessOf> }[] = [
  { name: 'no pods wanted', pods: [], expected: false, want: { ready: true } },
  { name: 'manifests not read yet', pods: [], expected: true, want: { ready: false } },
  {
    name: 'sample ready',
    pods: [pod(true, { sample: true, port: 8080, ip: '10.0.0.2' })],
    expected: true,
    want: { ready: true, url: 'http://10.0.0.2:8080/' },
  },
  {
    name: 'sample not ready',
    pods: [pod(false, { sample: true, port: 8080, ip: '10.0.0.2' })],
    expected: true,
    want: { ready: false },
  },
  {
    name: 'only the sample counts',
    pods: [pod(false), pod(true, { sample: true })],
    expected: true,
    want: { ready: true },
  },
  { name: 'without a sample all count', pods: [pod(false), pod(true)], expected: true, want: { ready: false } },
  {
    name: 'a job that is done counts',
    pods: [pod(false, { phase: 'Succeeded' }), pod(true)],
    expected: true,
    want: { ready: true },
  },
];
for (const { name, pods, expected, want } of cases) {
  test(`readinessOf: ${name}`, () => assert.deepEqual(readinessOf(pods, expected), want));
}

async function served(listener: RequestListener, use: (port: number) => Promise<void>): Promise<void> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  try {
    await use((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** The same at a unix socket. */
async function servedAt(listener: RequestListener, use: (path: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tubelet-pods-'));
  const path = join(folder, 'agent.sock');
  const server = createServer(listener);
  await new Promise<void>((resolve) => void server.listen(path, resolve));
  try {
    await use(path);
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  }
}

test('fetchPods reads the list from the socket and reports a refusal of the agent', async () => {
  const list = { kind: 'PodList', items: [pod(true)] };
  await servedAt(
    (request, response) => void response.writeHead(request.url === '/pods' ? 200 : 404).end(JSON.stringify(list)),
    async (path) => assert.deepEqual(await fetchPods(path, systemClock()), [pod(true)]),
  );
  await servedAt(
    (_, response) => void response.writeHead(503).end(),
    async (path) => assert.rejects(fetchPods(path, systemClock()), /503/),
  );
});

test('a page answers with 200 only, and a missing listener is not a failure', async () => {
  let url = '';
  await served(
    (request, response) => void response.writeHead(request.url === '/' ? 200 : 500).end(),
    async (port) => {
      url = `http://127.0.0.1:${port}/`;
      assert.equal(await answers(url, systemClock()), true);
      assert.equal(await answers(`${url}x`, systemClock()), false);
    },
  );
  assert.equal(await answers(url, systemClock()), false);
});

test('a server that never answers is given up', async () => {
  const clock = new FakeClock();
  let asked: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => {
    asked = resolve;
  });
  await served(
    () => asked(),
    async (port) => {
      const answer = assert.rejects(httpGet(`http://127.0.0.1:${port}/`, clock, 5_000), /does not answer/);
      await arrived;
      await clock.advance(5_000);
      await answer;
      assert.equal(clock.pending(), 0);
    },
  );
});
