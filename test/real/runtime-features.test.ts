import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Program } from '../support/real-program.ts';
import { freePorts, RealNode } from '../support/real-node.ts';
import { containerOf, endedPod, idlePod, podOf, podWhen, saidBy, SharedFolder, shell } from '../support/real-pods.ts';
import { nodeName } from '../support/real-runtime.ts';
import { until } from '../support/real-wait.ts';
import { runtimeUnderTest } from '../support/runtime-under-test.ts';

/** What containerd 1.6 does not have, and later runtimes do; docs/runtimes.md has the whole table. */
const { name: runtime, cgroupDriver } = runtimeUnderTest();
const isOld = runtime === 'containerd-1.6';
const needsNewer = isOld ? 'containerd 1.6 does not have it' : false;

let node: RealNode;
let agent: Program;
let port: number;
before(async () => {
  node = await RealNode.start('features');
  [port = 0] = await freePorts(1);
  agent = await node.workingAgent([
    // The runtime knows better, where it says so.
    ...(isOld ? [] : [`--cgroup-driver=${cgroupDriver === 'cgroupfs' ? 'systemd' : 'cgroupfs'}`]),
    '--feature-gates=ImageVolume=true,ContainerStopSignals=true',
    '--enable-server=true',
    `--port=${port}`,
    '--anonymous-auth=true',
    '--v=4',
  ]);
});
after(async () => {
  await node?.destroy();
});

describe(`on ${runtime}`, { concurrency: true }, () => {
  test('events are those of CRI, and one stream lasts', { skip: needsNewer }, async () => {
    node.put('events', podOf('events', { restartPolicy: 'Never', containers: [shell('main', node.image, 'true')] }));
    await endedPod(node, 'events');
    await until('events are counted', async () => {
      const page = await (await node.read('/metrics')).text();
      return /^kubelet_evented_pleg_connection_success_count 1$/m.test(page);
    });
    const streams = [...agent.text.matchAll(/Opening the stream of container events" stream="(\w+)"/g)];
    assert.deepEqual(
      streams.map((match) => match[1]),
      ['CRI'],
    );
  });

  test('the cgroup driver is that of the runtime', { skip: needsNewer }, () => {
    assert.match(
      agent.text,
      new RegExp(`cgroup driver setting received from the CRI runtime" cgroupDriver="${cgroupDriver}"`),
    );
  });

  test('a pod can have a user namespace', { skip: needsNewer }, async () => {
    node.put(
      'userns',
      podOf('userns', {
        hostUsers: false,
        restartPolicy: 'Never',
        volumes: [{ name: 'data', emptyDir: {} }],
        containers: [
          shell('main', node.image, 'cat /proc/self/uid_map; id -u; touch /data/mine && stat -c %u /data/mine', {
            volumeMounts: [{ name: 'data', mountPath: '/data' }],
          }),
        ],
      }),
    );
    const pod = await endedPod(node, 'userns');
    assert.equal(pod.status?.phase, 'Succeeded', JSON.stringify(pod.status));
    // Below CRI-O, runc warns of how it is asked for a namespace.
    const [map = '', ...rest] = saidBy(node, pod, 'main').filter((line) => /^[\d ]+$/.test(line));
    const [inside, outside, length] = map.trim().split(/\s+/).map(Number);
    assert.deepEqual([inside, length], [0, 65_536], [map, ...rest].join(' | '));
    assert.ok(outside !== undefined && outside >= 65_536, map);
    assert.deepEqual(rest, ['0', '0']);
  });

  test('an image can be a volume, read-only', { skip: needsNewer }, async () => {
    node.put(
      'image-volume',
      podOf('image-volume', {
        restartPolicy: 'Never',
        volumes: [{ name: 'image', image: { reference: node.image, pullPolicy: 'Never' } }],
        containers: [
          shell('main', node.image, 'cmp /image/bin/busybox /bin/busybox && ! touch /image/new', {
            volumeMounts: [{ name: 'image', mountPath: '/image' }],
          }),
        ],
      }),
    );
    const pod = await endedPod(node, 'image-volume');
    assert.equal(pod.status?.phase, 'Succeeded', JSON.stringify(pod.status));
  });

  test('a read-only mount is so in its depth where the runtime can, and the status says whether', async (context) => {
    const folder = new SharedFolder(node, 'depth');
    mkdirSync(join(folder.path, 'below'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', join(folder.path, 'below')]);
    context.after(() => execFileSync('umount', ['--lazy', join(folder.path, 'below')]));
    const mount = { name: 'shared', mountPath: '/shared', readOnly: true, recursiveReadOnly: 'IfPossible' };
    node.put(
      'depth',
      podOf('depth', {
        restartPolicy: 'Never',
        volumes: folder.volumes,
        containers: [
          shell('main', node.image, 'touch /shared/top || touch /shared/below/file && echo written; true', {
            volumeMounts: [mount],
          }),
        ],
      }),
    );
    const pod = await endedPod(node, 'depth');
    const words = saidBy(node, pod, 'main').filter((line) => line === 'written');
    assert.deepEqual(words, isOld ? ['written'] : []);
    const seen = containerOf(pod, 'main').volumeMounts?.find(({ mountPath }) => mountPath === '/shared');
    assert.equal(seen?.recursiveReadOnly, isOld ? 'Disabled' : 'Enabled');
  });

  test('strict groups are those of the pod alone, or the pod is refused', async () => {
    const securityContext = {
      runAsUser: 1_000,
      runAsGroup: 3_000,
      supplementalGroups: [4_000],
      supplementalGroupsPolicy: 'Strict',
    };
    const containers = [shell('main', node.image, 'id -G')];
    node.put('strict', podOf('strict', { restartPolicy: 'Never', securityContext, containers }));
    const pod = await endedPod(node, 'strict');
    if (isOld) {
      assert.deepEqual([pod.status?.phase, pod.status?.reason], ['Failed', 'SupplementalGroupsPolicyNotSupported']);
      return;
    }
    assert.deepEqual(saidBy(node, pod, 'main'), ['3000 4000']);
    assert.deepEqual(containerOf(pod, 'main').user?.linux, {
      uid: 1_000,
      gid: 3_000,
      supplementalGroups: [3_000, 4_000],
    });
  });

  test('a container is asked to end by the signal of its choice', { skip: needsNewer }, async () => {
    const folder = new SharedFolder(node, 'signal');
    const script = 'trap "echo usr1 > /shared/word; exit 0" USR1; trap "echo term > /shared/word; exit 0" TERM';
    const main = shell('main', node.image, `${script}; touch /shared/ready; while true; do sleep 0.1; done`, {
      ...folder.mounts,
      lifecycle: { stopSignal: 'SIGUSR1' },
    });
    node.put('signal', podOf('signal', { os: { name: 'linux' }, volumes: folder.volumes, containers: [main] }));
    const pod = await podWhen(node, 'signal', 'runs', ({ status }) => status?.phase === 'Running');
    // CRI-O obeys and does not tell.
    assert.equal(containerOf(pod, 'main').stopSignal, runtime === 'cri-o' ? undefined : 'SIGUSR1');
    await until('it listens', () => readFileSync(folder.file('ready')).length === 0);
    await node.remove('signal');
    assert.equal(readFileSync(folder.file('word'), 'utf8'), 'usr1\n');
  });

  test('a checkpoint is a file, or the words of the runtime why there is none', async () => {
    node.put('frozen', idlePod('frozen', node.image));
    await node.readyPod('frozen');
    const { status, body } = await post(`https://127.0.0.1:${port}/checkpoint/default/frozen-${nodeName}/main`);
    if (status === 200) {
      const { items } = JSON.parse(body) as { readonly items: readonly string[] };
      assert.ok(readFileSync(items[0] ?? '').length > 0);
      return;
    }
    assert.equal(status, 500);
    assert.match(body, /^checkpointing of default\/frozen-node-1\/main failed \(rpc error: code = \w+ desc = .+\)$/s);
    if (isOld) assert.match(body, /code = Unimplemented/);
  });
});

/** The agent's certificate is its own. */
function post(url: string): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', rejectUnauthorized: false, agent: false, signal: AbortSignal.timeout(60_000) };
    const outgoing = request(url, options, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('error', reject).on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    outgoing.on('error', reject).end();
  });
}
