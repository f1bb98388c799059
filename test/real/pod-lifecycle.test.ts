import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '../../src/gen/kubernetes/types.ts';
import { readyCondition, RealNode } from '../support/real-node.ts';
import {
  allPods,
  containerOf,
  endedPod,
  idle,
  podOf,
  podWhen,
  readLog,
  SharedFolder,
  shell,
  trail,
} from '../support/real-pods.ts';
import type { Program } from '../support/real-program.ts';
import { nodeName } from '../support/real-runtime.ts';
import { clock, until } from '../support/real-wait.ts';

/** The lives of pods on a real runtime. All pods of a describe start at once; tests that wait do so side by side. */
let node: RealNode;
let agent: Program;
before(async () => {
  node = await RealNode.start('lifecycle');
  agent = await node.workingAgent();
});
after(() => node?.destroy());

const sideBySide = { concurrency: true };
const put = (name: string, spec: object): void =>
  node.put(name, podOf(name, { terminationGracePeriodSeconds: 2, ...spec }));
/** A container with the image of this node. */
const run = (name: string, script: string, more: object = {}): object => shell(name, node.image, script, { ...more });
const shared = (name: string): SharedFolder => new SharedFolder(node, name);
const restartsOf = (pod: Pod, name = 'main'): number => containerOf(pod, name).restartCount;
const restarted = (name: string, times: number): Promise<Pod> =>
  podWhen(node, name, `is restarted ${times} times`, ({ status }) => {
    const [main] = status?.containerStatuses ?? [];
    return main?.restartCount === times && main.state?.running !== undefined;
  });

function endings(): void {
  before(() => {
    const folder = shared('ends');
    const once = (name: string, first: string, then: string): string =>
      `if [ ! -f /shared/${name} ]; then touch /shared/${name}; ${first}; fi; ${then}`;
    const { volumes, mounts } = folder;
    put('always', { volumes, containers: [run('main', once('always', 'exit 0', idle), mounts)] });
    put('on-failure', {
      restartPolicy: 'OnFailure',
      volumes,
      containers: [run('main', once('on-failure', 'exit 7', 'exit 0'), mounts)],
    });
    put('never', { restartPolicy: 'Never', containers: [run('good', 'exit 0'), run('bad', 'exit 5')] });
    put('crash', { containers: [run('main', 'exit 3')] });
    put('words', {
      restartPolicy: 'Never',
      containers: [
        run('file', 'printf "all is lost" > /dev/last-words; exit 1', { terminationMessagePath: '/dev/last-words' }),
        run('log', 'echo from the log; exit 2', { terminationMessagePolicy: 'FallbackToLogsOnError' }),
        run('quiet', 'echo nobody asks; exit 2'),
        run('fine', 'echo well; exit 0', { terminationMessagePolicy: 'FallbackToLogsOnError' }),
      ],
    });
    put('deadline', { activeDeadlineSeconds: 3, containers: [run('main', idle)] });
    put('log', {
      restartPolicy: 'Never',
      containers: [run('main', 'echo out; echo err >&2; head -c 20000 /dev/zero | tr "\\0" x; echo; printf end')],
    });
    put('init-fails', {
      restartPolicy: 'Never',
      initContainers: [run('first', 'exit 4'), run('second', 'true')],
      containers: [run('main', idle)],
    });
  });

  test('starts again whatever its end with restart policy Always', async () => {
    const pod = await restarted('always', 1);
    assert.equal(pod.status?.phase, 'Running');
    const { exitCode, reason } = containerOf(pod, 'main').lastState?.terminated ?? {};
    assert.deepEqual([exitCode, reason], [0, 'Completed']);
  });

  test('starts again after a failure only with OnFailure', async () => {
    const pod = await endedPod(node, 'on-failure');
    const { state, lastState, restartCount } = containerOf(pod, 'main');
    const ends = [lastState?.terminated?.exitCode, state?.terminated?.exitCode];
    assert.deepEqual([pod.status?.phase, restartCount, ends], ['Succeeded', 1, [7, 0]]);
  });

  test('stays ended with Never, and the phase tells of a failure', async () => {
    const pod = await endedPod(node, 'never');
    assert.equal(pod.status?.phase, 'Failed');
    for (const [name, code, word] of [
      ['good', 0, 'Completed'],
      ['bad', 5, 'Error'],
    ] as const) {
      const { exitCode, reason } = containerOf(pod, name).state?.terminated ?? {};
      assert.deepEqual([restartsOf(pod, name), exitCode, reason], [0, code, word]);
    }
  });

  test('again and again is held back, and says so', async () => {
    const pod = await podWhen(node, 'crash', 'is held back', ({ status }) => {
      return status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff';
    });
    const { state, lastState, restartCount } = containerOf(pod, 'main');
    assert.equal(
      state?.waiting?.message?.replace(/^back-off \d+s/, 'back-off'),
      `back-off restarting failed container=main pod=crash-${nodeName}_default(${pod.metadata?.uid})`,
    );
    assert.equal(lastState?.terminated?.exitCode, 3);
    assert.ok(restartCount >= 1);
    assert.equal(pod.status?.phase, 'Running');
  });

  test('leaves its last words in the file or the log, where it shall', async () => {
    const pod = await endedPod(node, 'words');
    const wordsOf = (name: string): string | undefined => containerOf(pod, name).state?.terminated?.message;
    assert.deepEqual(['file', 'log', 'quiet', 'fine'].map(wordsOf), [
      'all is lost',
      'from the log\n',
      undefined,
      undefined,
    ]);
  });

  test('is ended when the pod has had its time', async () => {
    const pod = await endedPod(node, 'deadline');
    const { phase, reason, message } = pod.status ?? {};
    assert.deepEqual(
      [phase, reason, message],
      ['Failed', 'DeadlineExceeded', 'Pod was active on the node longer than the specified deadline'],
    );
    await until('its container has ended', async () => (await node.runtime.running('deadline')).size === 0);
  });

  test('has said what is in its log, line by line, long ones in parts', async () => {
    const log = readLog(node, await endedPod(node, 'log'), 'main');
    const of = (wanted: string): string =>
      log
        .filter(({ stream }) => stream === wanted)
        .map(({ content, partial }) => content.toString() + (partial ? '' : '\n'))
        .join('');
    assert.equal(of('stderr'), 'err\n');
    assert.equal(of('stdout').trimEnd(), `out\n${'x'.repeat(20_000)}\nend`);
    assert.ok(log.some(({ partial }) => partial));
  });

  test('in failure keeps the pod from starting when it is an init container', async () => {
    const pod = await endedPod(node, 'init-fails');
    assert.equal(pod.status?.phase, 'Failed');
    assert.equal(containerOf(pod, 'first').state?.terminated?.exitCode, 4);
    for (const name of ['second', 'main'])
      assert.equal(containerOf(pod, name).state?.waiting?.reason, 'PodInitializing');
    assert.deepEqual(
      (await node.runtime.containers('init-fails')).map(({ name }) => name),
      ['first'],
    );
  });
}

function missingImages(): void {
  const absent = 'localhost/tubelet/none:1';
  const unreachable = 'localhost:1/none:1';
  before(() => {
    put('absent', { containers: [{ name: 'main', image: absent, imagePullPolicy: 'Never' }] });
    put('unreachable', { containers: [{ name: 'main', image: unreachable }] });
  });
  const waitsFor = async (name: string, wanted: string): Promise<string | undefined> => {
    const waiting = (pod: Pod): ReturnType<typeof containerOf>['state'] => pod.status?.containerStatuses?.[0]?.state;
    const pod = await podWhen(node, name, `waits: ${wanted}`, (pod) => waiting(pod)?.waiting?.reason === wanted);
    assert.equal(pod.status?.phase, 'Pending');
    return waiting(pod)?.waiting?.message;
  };

  test('that must not be pulled says so', async () => {
    const message = await waitsFor('absent', 'ErrImageNeverPull');
    assert.equal(message, `Container image "${absent}" is not present with pull policy of Never`);
  });

  test('whose registry is unreachable says so, and is held back', async () => {
    const held = await waitsFor('unreachable', 'ImagePullBackOff');
    assert.match(held ?? '', /^Back-off pulling image "localhost:1\/none:1": ErrImagePull: .*connection refused$/);
    // Each try is told of, too.
    const failed = await waitsFor('unreachable', 'ErrImagePull');
    assert.match(failed ?? '', /^failed to pull .*localhost:1\/none:1.*connection refused$/);
  });
}

/** Leaves a word when it is asked to end, and ends. */
const leaving = (word: string): string =>
  `trap '${trail(`${word}-ends`)}; exit 0' TERM; while true; do sleep 1000 & wait $!; done`;
/** Has its beginning known before anything is started that waits for it. */
const known = (word: string): object => ({
  startupProbe: { exec: { command: ['test', '-f', `/shared/${word}`] }, periodSeconds: 1, failureThreshold: 60 },
});

function orders(): void {
  before(() => {
    const { volumes, mounts } = shared('order');
    const sidecar = (word: string): object =>
      // Slow enough that whoever did not wait for it would be seen before it.
      run(word, `sleep 1; ${trail(word)}; touch /shared/${word}; ${leaving(word)}`, {
        ...mounts,
        ...known(word),
        restartPolicy: 'Always',
      });
    put('order', {
      terminationGracePeriodSeconds: 30,
      volumes,
      initContainers: [
        run('first', `sleep 0.5; ${trail('first')}`, mounts),
        sidecar('outer'),
        run('second', trail('second'), mounts),
        sidecar('inner'),
      ],
      containers: [run('main', `${trail('main')}; ${leaving('main')}`, mounts)],
    });
    const hooks = shared('hooks');
    const hook = (script: string): object => ({ exec: { command: ['sh', '-c', script] } });
    put('hooks', {
      terminationGracePeriodSeconds: 30,
      volumes: hooks.volumes,
      containers: [
        run('main', `until [ -f /shared/post ]; do sleep 0.1; done; ${trail('main')}; ${leaving('main')}`, {
          ...hooks.mounts,
          lifecycle: {
            postStart: hook(
              `${trail('post')}; touch /shared/post; until grep -q main /shared/trail; do sleep 0.1; done`,
            ),
            preStop: hook(`${trail('pre')}; sleep 1; ${trail('pre-done')}`),
          },
        }),
        run('next', trail('next-started') + `; ${idle}`, hooks.mounts),
      ],
    });
  });

  test('of init containers and sidecars is theirs in the pod, and sidecars end last, the latest first', async () => {
    const pod = await node.readyPod('order');
    const started = ['first', 'outer', 'second', 'inner', 'main'];
    const folder = shared('order');
    assert.deepEqual(folder.trail(), started);
    assert.deepEqual(
      ['outer', 'inner'].map((name) => containerOf(pod, name).started),
      [true, true],
    );
    const began = clock.monotonic();
    await node.remove('order');
    assert.deepEqual(folder.trail().slice(started.length), ['main-ends', 'inner-ends', 'outer-ends']);
    assert.ok(clock.monotonic() - began < 20_000, 'nobody waited for the end of the grace period');
  });

  test('of hooks: the next container waits for postStart, the signal for preStop', async () => {
    await node.readyPod('hooks');
    const folder = shared('hooks');
    assert.deepEqual(folder.trail(), ['post', 'main', 'next-started']);
    await node.remove('hooks');
    assert.deepEqual(folder.trail().slice(3), ['pre', 'pre-done', 'main-ends']);
  });
}

describe('on one node', sideBySide, () => {
  describe('a container that ends', sideBySide, endings);
  describe('a container without an image', sideBySide, missingImages);
  describe('the order', sideBySide, orders);
});

/** Goes on when it is asked to end, and notes the machine's uptime when it was asked and as long as it lives. */
const deaf =
  "trap 'cp /shared/beat /shared/term' TERM; touch /shared/up; " +
  'while true; do read up rest < /proc/uptime; echo $up > /shared/.beat; mv /shared/.beat /shared/beat; sleep 0.1; done';
const notedAt = (folder: SharedFolder, name: string): number => Number(readFileSync(folder.file(name), 'utf8'));
const isDeaf = (folder: SharedFolder): object => ({
  volumes: folder.volumes,
  containers: [run('main', deaf, { ...folder.mounts, ...known('up') })],
});

describe('a pod that is stopped', () => {
  const many = Array.from({ length: 20 }, (_, index) => `small-${index}`);
  const probed = many.slice(0, 10);
  const hangGrace = 15;
  const notListed = 'not listed yet';
  before(() => {
    put('deaf', { ...isDeaf(shared('deaf')), terminationGracePeriodSeconds: 4 });
    put('hang', { ...isDeaf(shared('hang')), terminationGracePeriodSeconds: hangGrace });
    for (const name of many) {
      const readinessProbe = { exec: { command: ['true'] }, periodSeconds: 2, timeoutSeconds: 10 };
      put(name, { containers: [run('main', idle, probed.includes(name) ? { readinessProbe } : {})] });
    }
  });

  test('is killed at the end of its grace period when it does not listen', async () => {
    await node.readyPod('deaf');
    await node.remove('deaf');
    const folder = shared('deaf');
    const lived = notedAt(folder, 'beat') - notedAt(folder, 'term');
    assert.ok(lived > 2.5 && lived < 5.5, `it lived for ${lived} s`);
  });

  test('is not, when only the agent is restarted: ten pods stay ready throughout', async () => {
    for (const name of probed) await podReady(name);
    const look = async (): Promise<readonly string[]> => {
      const pods = await allPods(node);
      return probed.map((name) => describeReadiness(pods.get(name)));
    };
    const first = await look();
    agent.kill('SIGTERM');
    assert.equal((await agent.ended).code, 0);
    // So talkative that it tells of probes and of looks at the runtime.
    agent = node.agent(['--v=6']);
    const seen = new Set<string>();
    const relists = (): number => agent.text.match(/"Runtime call done" verb="listContainers"/g)?.length ?? 0;
    const probes = (): number => agent.text.match(/"Runtime call done" verb="execSync"/g)?.length ?? 0;
    await until(
      'the agent has looked and probed for a while',
      async () => {
        for (const line of await look()) seen.add(line);
        return relists() >= 3 && probes() >= 2 * probed.length;
      },
      { timeoutMs: 60_000, state: () => agent.text.slice(-2_000) },
    );
    // Before its manifest has been read a pod is not listed; once it is, it is as it was.
    assert.deepEqual([...seen].filter((line) => line !== notListed).toSorted(), first.toSorted());
  });

  test('and hangs does not delay the others', async (context) => {
    for (const name of [...many, 'hang']) await podReady(name);
    const began = clock.monotonic();
    for (const name of [...many, 'hang']) rmSync(join(node.names.manifests, `${name}.json`));
    for (const name of many) await node.runtime.gone(name);
    const ms = Math.round(clock.monotonic() - began);
    context.diagnostic(`${many.length} pods were gone after ${ms} ms`);
    assert.equal((await node.runtime.running('hang')).size, 1, `after ${ms} ms`);
    await node.runtime.gone('hang');
    const folder = shared('hang');
    const lived = notedAt(folder, 'beat') - notedAt(folder, 'term');
    assert.ok(Math.abs(lived - hangGrace) < 1.5, `it lived for ${lived} s`);
  });

  const podReady = (name: string): Promise<Pod> =>
    podWhen(node, name, 'is ready', (pod) => readyCondition(pod) === 'True');

  /** All that must not change when an agent is restarted. */
  function describeReadiness(pod: Pod | undefined): string {
    if (pod === undefined) return notListed;
    if (pod.status?.containerStatuses === undefined) return JSON.stringify(pod.status);
    const { containerID, ready, restartCount } = containerOf(pod, 'main');
    const condition = pod.status.conditions?.find(({ type }) => type === 'Ready');
    return [containerID, ready, restartCount, condition?.status, condition?.lastTransitionTime].join(' ');
  }
});
