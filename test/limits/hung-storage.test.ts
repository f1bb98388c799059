import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Event, PodSpec } from '../../src/gen/kubernetes/types.ts';
import { apiResources } from '../../src/model/api-resources.ts';
import { aContainer } from '../../src/testing/pods.ts';
import { clock, until } from '../support/real-wait.ts';
import { HungFuse, noFuse } from './support/hung-fuse.ts';
import { LimitNode } from './support/limit-node.ts';

const options = { skip: noFuse ?? false };
const count = 20;
let node: LimitNode;
let fuse: HungFuse;

before(async () => {
  if (noFuse !== undefined) return;
  node = await LimitNode.start('hung-storage');
});
after(async () => {
  await fuse?.abort();
  await node?.destroy();
});

const onFolder = (path: string): Partial<PodSpec> => ({
  volumes: [{ name: 'data', hostPath: { path, type: 'Directory' } }],
  containers: [aContainer('main', { volumeMounts: [{ name: 'data', mountPath: '/data' }] })],
});

const onPart = (path: string): Partial<PodSpec> => ({
  volumes: [{ name: 'data', hostPath: { path } }],
  containers: [aContainer('main', { volumeMounts: [{ name: 'data', mountPath: '/data', subPath: 'part' }] })],
});

/** Volumes of every kind that does not hang, with parts of them. */
function onHealthy(): Partial<PodSpec> {
  const healthy = join(node.path, 'healthy');
  mkdirSync(join(healthy, 'part'), { recursive: true });
  return {
    volumes: [
      { name: 'scratch', emptyDir: {} },
      { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
      { name: 'pod', downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
      { name: 'host', hostPath: { path: healthy, type: 'Directory' } },
    ],
    containers: [
      aContainer('main', {
        volumeMounts: [
          { name: 'scratch', mountPath: '/scratch', subPath: 'part' },
          { name: 'memory', mountPath: '/memory' },
          { name: 'pod', mountPath: '/pod' },
          { name: 'host', mountPath: '/host', subPath: 'part' },
        ],
      }),
    ],
  };
}

function eventsOf(name: string): readonly string[] {
  return node.api.objects
    .all<Event>(apiResources.events)
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ reason, message }) => `${reason}: ${message}`);
}

/** What the agent's own threads are doing in the kernel: none of them may be on the hung file system. */
function waitingThreads(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).filter((task) =>
    /^State:\s+D/m.test(readFileSync(`/proc/${pid}/task/${task}/status`, 'utf8')),
  ).length;
}

test('pods on storage that does not answer wait and say why, and hold up nothing else', options, async () => {
  const path = join(node.path, 'hung');
  fuse = await HungFuse.mount(path);
  const folders = Array.from({ length: count }, (_, index) => `folder-${index}`);
  const parts = ['part-0', 'part-1', 'part-2', 'part-3'];
  for (const name of folders) node.schedule(name, onFolder(join(path, name)));
  for (const name of parts) node.schedule(name, onPart(path));
  const words = `the file system mounted on ${path} (fuse.hung, hung-server:/export) does not answer`;
  await node.during(async () => {
    for (const name of folders) {
      await until(
        `${name} says why it waits`,
        () =>
          eventsOf(name).some(
            (text) =>
              text ===
              `FailedMount: MountVolume.SetUp failed for volume "data" : hostPath type check failed: ${path}/${name}: ${words}`,
          ),
        { timeoutMs: 30_000, state: () => eventsOf(name) },
      );
    }
    for (const name of parts) {
      await until(`${name} says why it waits`, () => eventsOf(name).some((text) => text.includes(words)), {
        timeoutMs: 30_000,
        state: () => ({ events: eventsOf(name), status: node.pod(name)?.status }),
      });
    }
    for (let turn = 0; turn < 3; turn++) {
      node.schedule(`healthy-${turn}`, onHealthy());
      await node.ready(`healthy-${turn}`);
      await node.remove(`healthy-${turn}`);
    }
  });
  assert.equal(waitingThreads(node.agent.pid), 0);
});

test('a pod on such storage can be removed while it hangs', options, async () => {
  const began = clock.monotonic();
  await node.remove('folder-0');
  await node.remove('part-0');
  assert.ok(clock.monotonic() - began < 30_000);
});

test('pods go on when the storage answers, without waiting for their next try', options, async () => {
  fuse.answer();
  const names = ['folder-1', 'folder-19', 'part-1', 'part-3'];
  const began = clock.monotonic();
  for (const name of names) await node.ready(name);
  assert.ok(clock.monotonic() - began < 15_000, `${clock.monotonic() - began} ms`);
  for (const name of names) await node.remove(name);
});

test('pods on storage that is cut off while it hangs are told so, and can be removed', options, async () => {
  const path = join(node.path, 'cut');
  const cut = await HungFuse.mount(path);
  try {
    node.schedule('cut', onFolder(join(path, 'x')));
    await until('it waits', () => eventsOf('cut').some((text) => text.includes('does not answer')), {
      timeoutMs: 30_000,
    });
    await node.during(async () => {
      await cut.abort();
      await until('it says so', () => eventsOf('cut').some((text) => text.includes('is not a directory')), {
        timeoutMs: 30_000,
        state: () => eventsOf('cut'),
      });
      await node.remove('cut');
    });
  } finally {
    await cut.abort();
  }
});

test('an agent that is killed while its storage hangs leaves no process behind', options, async () => {
  const path = join(node.path, 'late');
  const late = await HungFuse.mount(path);
  try {
    node.schedule('late', onFolder(join(path, 'x')));
    await until('it waits', () => eventsOf('late').some((text) => text.includes('does not answer')), {
      timeoutMs: 30_000,
    });
    const helpers = storageProcesses();
    assert.equal(helpers.length, 1);
    await node.stopAgent();
    await late.abort();
    await until('the process is gone', () => helpers.every((pid) => !storageProcesses().includes(pid)));
  } finally {
    await late.abort();
  }
});

test('an agent starts over storage that stopped answering while pods had parts of it', options, async () => {
  await node.startAgent();
  const path = join(node.path, 'stalled');
  const stalled = await HungFuse.mount(path);
  try {
    stalled.answer();
    const names = ['had-part', 'had-folder'];
    node.schedule('had-part', onPart(path));
    node.schedule('had-folder', onFolder(join(path, 'x')));
    for (const name of names) await node.ready(name);
    node.agent.kill('SIGKILL');
    await node.agent.ended;
    stalled.hang();
    await node.startAgent();
    await node.during(async () => {
      node.schedule('healthy-after', onHealthy());
      await node.ready('healthy-after');
      await node.remove('healthy-after');
      // Removed while nothing answers, and looked for as what an agent before left behind.
      for (const name of names) await node.remove(name);
      assert.equal((await node.ask('/stats/summary', await node.clientFiles())).status, 200);
    });
    assert.equal(waitingThreads(node.agent.pid), 0);
  } finally {
    await stalled.abort();
  }
});

function storageProcesses(): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/comm`, 'utf8') === 'tubelet-storage\n';
    } catch (error) {
      // It ended while the folder was read.
      if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
      throw error;
    }
  });
}
