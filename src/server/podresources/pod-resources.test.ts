import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { credentials, status, type ServiceError } from '@grpc/grpc-js';
import {
  PodResourcesListerClient,
  type AllocatableResourcesResponse,
  type GetPodResourcesResponse,
  type ListPodResourcesResponse,
} from '../../gen/podresources/v1.ts';
import {
  PodResourcesListerClient as OldListerClient,
  type ListPodResourcesResponse as OldListResponse,
} from '../../gen/podresources/v1alpha1.ts';
import { socketFiles } from '../../host/index.ts';
import { Registry } from '../../telemetry/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import {
  noAllocations,
  podResourcesMetrics,
  PodResourcesServer,
  type AllocatedPod,
  type ResourceAllocations,
} from './index.ts';

const pod: AllocatedPod = {
  uid: 'u1',
  name: 'web',
  namespace: 'shop',
  spec: {
    initContainers: [
      { name: 'prepare', image: 'x' },
      { name: 'proxy', image: 'x', restartPolicy: 'Always' },
    ],
    containers: [{ name: 'app', image: 'x' }],
  },
};

const gpus = { resourceName: 'example.com/gpu', deviceIds: ['g1'], topology: { nodes: [{ ID: 0n }] } };
const allocations: ResourceAllocations = {
  of: (uid, container) =>
    uid === 'u1' && container === 'app'
      ? { devices: [gpus], cpuIds: [2, 3], memory: [], dynamicResources: [] }
      : noAllocations.of(uid, container),
  allocatable: () => ({ devices: [gpus], cpuIds: [0, 1, 2, 3], memory: [] }),
};

async function serve(context: TestContext, change: { canGet?: boolean; pods?: () => readonly AllocatedPod[] } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'tubelet-podresources-'));
  const socket = join(folder, 'pod-resources', 'kubelet.sock');
  // What an agent that was killed left behind.
  mkdirSync(join(folder, 'pod-resources'));
  writeFileSync(socket, '');
  const clock = new FakeClock();
  const metrics = new Registry();
  const server = new PodResourcesServer({
    clock,
    log: new MemoryLog(),
    metrics: podResourcesMetrics(metrics),
    socket,
    sockets: socketFiles,
    pods: { activePods: change.pods ?? (() => [pod]) },
    allocations,
    canGet: change.canGet ?? true,
  });
  await server.start();
  const client = new PodResourcesListerClient(`unix://${socket}`, credentials.createInsecure());
  const old = new OldListerClient(`unix://${socket}`, credentials.createInsecure());
  context.after(async () => {
    client.close();
    old.close();
    await server.stop();
    rmSync(folder, { recursive: true });
  });
  return { client, old, clock, metrics, socket };
}

function ask<Answer>(call: (done: (error: ServiceError | null, answer: Answer) => void) => unknown): Promise<Answer> {
  return new Promise((resolve, reject) => {
    call((error, answer) => {
      if (error === null) resolve(answer);
      else reject(error);
    });
  });
}

describe('pod resources over a socket', () => {
  test('sidecars and containers with what they hold; containers that ran before hold nothing', async (context) => {
    const { client, old, socket } = await serve(context);
    const { podResources } = await ask<ListPodResourcesResponse>((done) => client.list({}, done));
    const empty = { devices: [], cpuIds: [], memory: [], dynamicResources: [] };
    assert.deepEqual(podResources, [
      {
        name: 'web',
        namespace: 'shop',
        containers: [
          { ...empty, name: 'proxy' },
          { ...empty, name: 'app', devices: [gpus], cpuIds: [2n, 3n] },
        ],
      },
    ]);
    const before = await ask<OldListResponse>((done) => old.list({}, done));
    assert.deepEqual(before.podResources[0]?.containers[1], {
      name: 'app',
      devices: [{ resourceName: 'example.com/gpu', deviceIds: ['g1'] }],
    });
    assert.equal(statSync(socket).mode & 0o777, 0o600);
  });

  test('what can be given away', async (context) => {
    const { client } = await serve(context);
    const answer = await ask<AllocatableResourcesResponse>((done) => client.getAllocatableResources({}, done));
    assert.deepEqual(answer, { devices: [gpus], cpuIds: [0n, 1n, 2n, 3n], memory: [] });
  });

  test('one pod by name; none by another; not at all when the gate is off', async (context) => {
    const { client } = await serve(context);
    const get = (of: PodResourcesListerClient, podName: string) =>
      ask<GetPodResourcesResponse>((done) => of.get({ podName, podNamespace: 'shop' }, done));
    assert.equal((await get(client, 'web')).podResources?.containers.length, 2);
    await assert.rejects(get(client, 'none'), {
      code: status.UNKNOWN,
      details: 'pod none in namespace shop not found',
    });
    const closed = await serve(context, { canGet: false });
    await assert.rejects(get(closed.client, 'web'), { details: 'PodResources API Get method disabled' });
    const page = closed.metrics.render();
    assert.match(page, /kubelet_pod_resources_endpoint_requests_get\{server_api_version="v1"\} 1\n/);
    assert.match(page, /kubelet_pod_resources_endpoint_errors_get\{server_api_version="v1"\} 1\n/);
  });

  test('ten at once, then a hundred a second', async (context) => {
    const { client, clock } = await serve(context);
    const list = () => ask<ListPodResourcesResponse>((done) => client.list({}, done));
    for (let index = 0; index < 10; index++) await list();
    await assert.rejects(list(), { code: status.RESOURCE_EXHAUSTED, details: 'rejected by rate limit' });
    await clock.advance(10);
    await list();
    await assert.rejects(list(), { code: status.RESOURCE_EXHAUSTED });
  });

  test('a failure inside is an answer, not an end', async (context) => {
    const { client, clock } = await serve(context, {
      pods: () => {
        throw new Error('no list');
      },
    });
    const list = () => ask<ListPodResourcesResponse>((done) => client.list({}, done));
    await assert.rejects(list(), { code: status.UNKNOWN, details: 'no list' });
    await clock.advance(1_000);
    await assert.rejects(list(), { code: status.UNKNOWN });
  });
});
