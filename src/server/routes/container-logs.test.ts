import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import type { Pod } from '../../gen/kubernetes/types.ts';
import { hostLogFiles } from '../../host/log-files.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import type { RouteRequest } from '../route.ts';
import { containerLogsHandler } from './container-logs.ts';

let folder = '';
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'container-logs-'));
  writeFileSync(join(folder, 'now'), '2026-01-01T00:00:00Z stdout F out\n2026-01-01T00:00:01Z stderr F err\n');
  writeFileSync(join(folder, 'before'), '2026-01-01T00:00:00Z stdout F last words\n');
});
after(() => rmSync(folder, { recursive: true }));

const status = (name: string, more: object): object => ({
  name,
  image: '',
  imageID: '',
  ready: false,
  restartCount: 1,
  ...more,
});
const pod = {
  metadata: { name: 'p', namespace: 'n' },
  spec: { containers: [{ name: 'c' }, { name: 'w' }, { name: 'gone' }, { name: 'nofile' }] },
  status: {
    containerStatuses: [
      status('c', {
        containerID: 'r://now',
        state: { running: {} },
        lastState: { terminated: { exitCode: 1, containerID: 'r://before' } },
      }),
      status('w', { state: { waiting: { reason: 'ContainerCreating' } } }),
      status('gone', { containerID: 'r://gone', state: { running: {} } }),
      status('nofile', { containerID: 'r://nofile', state: { running: {} } }),
    ],
  },
} as unknown as Pod;

async function ask(
  path: string,
  query = '',
  splitStreams = false,
): Promise<{ status: number; body: string; contentType: string }> {
  const [namespace = '', name = '', container = ''] = path.split('/');
  const handler = containerLogsHandler({
    clock: new FakeClock(),
    log: new MemoryLog(),
    files: hostLogFiles,
    splitStreams,
    sources: {
      pod: (inNamespace, named) => (inNamespace === 'n' && named === 'p' ? { pod } : undefined),
      logPath: async (id) => {
        if (id === 'gone') throw new TubeletError('notFound', 'no such container');
        return join(folder, id);
      },
      isRunning: async () => false,
    },
  });
  const { signal } = new AbortController();
  const request = { params: { namespace, pod: name, container }, query: new URLSearchParams(query), signal };
  const response = await handler(request as unknown as RouteRequest);
  if (response.kind === 'page') return { ...response, body: String(response.body) };
  assert.ok(response.kind === 'stream');
  let body = '';
  await response.send({ write: async (chunk) => void (body += Buffer.from(chunk).toString()) }, signal);
  return { ...response, body };
}

describe('container logs', () => {
  const cases: readonly (readonly [string, string, number, string])[] = [
    ['n/p/c', '', 200, 'out\nerr\n'],
    ['n/p/c', 'follow=true', 200, 'out\nerr\n'],
    ['n/p/c', 'timestamps=true&tailLines=1', 200, '2026-01-01T00:00:01.000000000Z err\n'],
    ['n/p/c', 'previous=true', 200, 'last words\n'],
    ['n/p/c', 'stream=All', 200, 'out\nerr\n'],
    ['n/p/c', 'tailLines=x', 400, '{"message": "Unable to decode query."}'],
    ['n/no/c', 'limitBytes=0', 422, '{"message": "Invalid request."}'],
    ['n/no/c', '', 404, 'pod "no" does not exist'],
    ['n/p/no', 'stream=Stdout', 404, 'container "no" not found in pod "p"'],
    [
      'n/p/c',
      'stream=Stdout',
      400,
      'unable to return the given log stream: "Stdout". Please enable PodLogsQuerySplitStreams feature gate in kubelet',
    ],
    ['n/p/w', '', 400, 'container "w" in pod "p" is waiting to start: ContainerCreating'],
    ['n/p/w', 'previous=1', 400, 'previous terminated container "w" in pod "p" not found'],
    ['n/p/gone', '', 400, 'unable to retrieve container logs for r://gone'],
  ];
  for (const [path, query, code, body] of cases) {
    test(`${path}?${query} is ${code}`, async () => {
      const answer = await ask(path, query);
      assert.deepEqual({ status: answer.status, body: answer.body }, { status: code, body });
      assert.equal(answer.contentType, 'text/plain; charset=utf-8');
    });
  }

  test('without a file are a bad request', async () => {
    const { status, body } = await ask('n/p/nofile');
    assert.equal(status, 400);
    assert.match(body, /^failed to try resolving symlinks in path .*: no such file or directory$/);
  });

  test('of one stream are given where the gate allows it', async () => {
    assert.equal((await ask('n/p/c', 'stream=Stdout', true)).body, 'out\n');
    assert.equal((await ask('n/p/c', 'stream=Stderr', true)).body, 'err\n');
  });
});
