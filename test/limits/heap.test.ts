import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Event } from '../../src/gen/kubernetes/types.ts';
import { apiResources } from '../../src/model/api-resources.ts';
import { realFolder, type RealFolder } from '../support/real-folders.ts';
import { startedWork } from '../support/real-node.ts';
import { tubelet } from '../support/real-program.ts';
import { until } from '../support/real-wait.ts';
import { LimitNode } from './support/limit-node.ts';

let folder: RealFolder;
before(async () => {
  folder = await realFolder('limits-heap-script');
});
after(() => folder?.remove());

/** What the script asks of the engine; the program in its place only says what it was given. */
function heapFor(memoryMb: number | undefined, group: string, env: Readonly<Record<string, string>> = {}) {
  const programs = join(folder.path, 'programs');
  mkdirSync(programs, { recursive: true });
  writeFileSync(join(programs, 'node'), '#!/bin/sh\necho "$@"\n');
  chmodSync(join(programs, 'node'), 0o755);
  const meminfo = join(folder.path, 'meminfo');
  writeFileSync(meminfo, `MemTotal:       ${(memoryMb ?? 0) * 1024} kB\nMemFree:  1 kB\n`);
  const limit = join(folder.path, 'limit');
  writeFileSync(limit, `${group}\n`);
  // In a mount namespace of its own: what is mounted there is gone with the shell.
  const script =
    `mount -t tmpfs none /sys/fs/cgroup && cp ${limit} /sys/fs/cgroup/memory.max && ` +
    `mount --bind ${meminfo} /proc/meminfo && exec ${tubelet} --version`;
  const words = memoryMb === undefined ? ['-c', `exec ${tubelet} --version`] : ['-m', 'sh', '-c', script];
  const { stdout, stderr, status } = spawnSync(memoryMb === undefined ? 'sh' : 'unshare', words, {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${programs}:${process.env['PATH'] ?? ''}`, ...env },
  });
  const heap = Number(/--max-old-space-size=(\d+)/.exec(stdout)?.[1]);
  return { heap, status, stderr };
}

const canPretend =
  spawnSync('unshare', ['-m', 'true']).status === 0 && /^0::/m.test(readFileSync('/proc/self/cgroup', 'utf8'));

const table: readonly (readonly [name: string, memoryMb: number, group: string, heap: number])[] = [
  ['an eighth of a large machine', 24_000, 'max', 3_000],
  ['not more than 4 GiB', 256_000, 'max', 4_096],
  ['1 GiB of a small one', 4_000, 'max', 1_024],
  ['three quarters of a very small one', 800, 'max', 600],
  ['an eighth of a control group', 64_000, String(16_000 * 2 ** 20), 2_000],
  ['a control group that is larger than the machine counts for nothing', 24_000, String(2 ** 50), 3_000],
  ['nor does what is no limit', 24_000, '9223372036854771712', 3_000],
];
for (const [name, memoryMb, group, heap] of table) {
  test(`the heap may have ${name}`, { skip: !canPretend && 'no mount namespaces, or no unified control group' }, () => {
    assert.deepEqual(heapFor(memoryMb, group), { heap, status: 0, stderr: '' });
  });
}

test('an operator may set it, and a wrong word is refused', () => {
  assert.equal(heapFor(undefined, 'max', { TUBELET_MAX_HEAP_MB: '700' }).heap, 700);
  for (const word of ['1g', '-5', '0', '1 2', '99999999']) {
    const { status, stderr } = heapFor(undefined, 'max', { TUBELET_MAX_HEAP_MB: word });
    assert.equal(status, 1, word);
    assert.match(stderr, /TUBELET_MAX_HEAP_MB must be a whole number/);
  }
});

/** Memory that a node must hold whatever it does: pods that are its own, as large as an API server takes them. */
const pods = 100;
const annotation = 'x'.repeat(250_000);

test('a heap that is exhausted is said at the next start, and so is any end that was no stop', async () => {
  const node = await LimitNode.start('heap', { env: { TUBELET_MAX_HEAP_MB: '48' } });
  try {
    const { agent } = node;
    for (let index = 0; index < pods && agent.running; index++) {
      const annotations = { one: `${index}${annotation}` };
      node.schedule(`large-${index}`, { terminationGracePeriodSeconds: 0 }, { annotations });
    }
    await until('the heap is exhausted', () => !agent.running, {
      timeoutMs: 60_000,
      state: () => agent.text.slice(-500),
    });
    const { signal, code } = await agent.ended;
    assert.ok(signal === 'SIGABRT' || code === 134, `${signal} ${code}`);
    assert.match(agent.text, /heap out of memory/);

    // Under the bound that is shipped the same pods are nothing.
    await node.startAgent([], {});
    const heap = Number(
      /--max-old-space-size=(\d+)/.exec(readFileSync(`/proc/${node.agent.pid}/cmdline`, 'utf8'))?.[1],
    );
    assert.ok(heap >= Math.min(1_024, (totalmem() / 2 ** 20) * 0.7), `${heap}`);
    assert.match(node.agent.text, /ran out of heap: its limit was \d+ MiB/);
    const event = await until('the node has the event', () => nodeEvent(node, 'KubeletHeapExhausted'));
    assert.match(event.message ?? '', /^The kubelet before this one \(pid \d+, started .*\) ran out of heap/);
    assert.equal(event.type, 'Warning');
    // The report of the engine holds the environment.
    assert.ok(!existsSync(join(node.rootDir, 'run-marker/fatal-error.json')));

    node.agent.kill('SIGKILL');
    await node.agent.ended;
    await node.startAgent([], {});
    const killed = await until('the node has the event', () => nodeEvent(node, 'KubeletEndedUnexpectedly'));
    assert.match(
      killed.message ?? '',
      /ended without stopping, by a signal such as SIGKILL or a crash; there is no evidence which/,
    );

    node.agent.kill('SIGTERM');
    assert.equal((await node.agent.ended).code, 0);
    await node.startAgent([], {});
    await node.agent.said(startedWork);
    assert.doesNotMatch(node.agent.text, /The kubelet before this one/);
  } finally {
    await node.destroy();
  }
});

function nodeEvent(node: LimitNode, reason: string): Event | undefined {
  return node.api.objects.all<Event>(apiResources.events).find((event) => event.reason === reason);
}
