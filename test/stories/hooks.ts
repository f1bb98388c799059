import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { command, container, sidecar, type Fields } from './plan.ts';
import { containerOf, isReady, momentOf, wordsOf, type Mark, type OpenStage } from './stage.ts';
import { story } from './story.ts';

const port = 8080;
const mark = (word: string): Fields => ({ httpGet: { path: `/cgi-bin/mark?${word}`, port } });
const between = (trail: readonly Mark[], from: string, to: string): number =>
  momentOf(trail, to) - momentOf(trail, from);

/** Hooks of all kinds, and what hangs on them. */
export function hookStories(open: OpenStage): void {
  void describe('a hook', { concurrency: true }, () => {
    story(open, 'by a command: the next container waits for postStart, the signal for preStop', async (stage) => {
      const lifecycle = {
        postStart: command({ marks: 'post', takes: 1 }),
        preStop: command({ marks: 'pre', takes: 1 }),
      };
      const pod = await stage.give({
        name: 'hook-command',
        spec: { terminationGracePeriodSeconds: 30 },
        containers: [container('main', {}, { lifecycle }), container('next')],
      });
      await pod.when('is ready', isReady);
      await pod.remove();
      await pod.gone();
      const trail = await pod.seen.trail();
      const words = wordsOf(trail).filter((word) => !/^next (asked|ends)$/.test(word));
      // A program and its postStart hook start side by side.
      assert.deepEqual(words.slice(0, 2).toSorted(), ['main starts', 'post']);
      assert.deepEqual(words.slice(2), ['next starts', 'removed', 'pre', 'main asked', 'main ends']);
      assert.ok(between(trail, 'post', 'next starts') >= 1);
      assert.ok(between(trail, 'pre', 'main asked') >= 1);
      // One container's hook is no reason to spare another.
      assert.ok(momentOf(trail, 'next asked') < momentOf(trail, 'main asked'));
    });

    story(open, 'by HTTP asks the pod, at both ends', async (stage) => {
      const startupProbe = {
        httpGet: { path: '/up', port },
        periodSeconds: 1,
        failureThreshold: 60,
        timeoutSeconds: 10,
      };
      const pod = await stage.give({
        name: 'hook-http',
        spec: { terminationGracePeriodSeconds: 30 },
        init: [sidecar('server', { serves: port }, { startupProbe })],
        containers: [container('main', {}, { lifecycle: { postStart: mark('post'), preStop: mark('pre') } })],
      });
      await pod.turn('up', true);
      await pod.when('is ready', isReady);
      await pod.remove();
      await pod.gone();
      const words = wordsOf(await pod.seen.trail());
      const userAgent = 'kube-lifecycle/1.34';
      assert.deepEqual(words.slice(1, 3).toSorted(), ['main starts', `post ${userAgent}`]);
      assert.deepEqual(words.slice(3), [
        'removed',
        `pre ${userAgent}`,
        'main asked',
        'main ends',
        'server asked',
        'server ends',
      ]);
    });

    sleepStories(open);
    failureStories(open);
  });
}

function sleepStories(open: OpenStage): void {
  story(open, 'that sleeps holds the signal back for so long', async (stage) => {
    const pod = await stage.give({
      name: 'hook-sleep',
      spec: { terminationGracePeriodSeconds: 30 },
      containers: [container('main', {}, { lifecycle: { preStop: { sleep: { seconds: 2 } } } })],
    });
    await pod.when('is ready', isReady);
    await pod.remove();
    await pod.gone();
    const seconds = between(await pod.seen.trail(), 'removed', 'main asked');
    assert.ok(seconds > 1.9 && seconds < 8, `asked after ${seconds} s`);
  });

  story(open, 'before the end that does not end is cut off by the grace, and leaves two seconds', async (stage) => {
    const preStop = command({ marks: 'pre', takes: 300 });
    const pod = await stage.give({
      name: 'hook-endless',
      spec: { terminationGracePeriodSeconds: 3 },
      containers: [container('main', { onTerm: 'ignore' }, { lifecycle: { preStop } })],
    });
    await pod.when('is ready', isReady);
    await pod.remove();
    await pod.gone();
    const trail = await pod.seen.trail();
    assert.ok(
      trail.some(({ word }) => word === 'pre'),
      'the hook has begun',
    );
    // Not from the hook's own mark: on a busy machine that comes late, and its time has run for a while then.
    const [asked, lived] = [between(trail, 'removed', 'main asked'), between(trail, 'main asked', 'main ends')];
    assert.ok(asked > 2.8 && asked < 8, `asked after ${asked} s`);
    assert.ok(lived > 1.5 && lived < 3.9, `lived ${lived} s longer`);
    assert.ok(pod.seen.events().some(({ reason }) => reason === 'FailedPreStopHook'));
  });
}

function failureStories(open: OpenStage): void {
  story(open, 'after the start that fails takes the container with it, which comes back', async (stage) => {
    const pod = await stage.give({
      name: 'hook-fails',
      containers: [container('main', {}, { lifecycle: { postStart: command({ prints: 'no way', wants: 'way' }) } })],
    });
    await pod.when('has lost its container', (now) => containerOf(now).lastState?.terminated !== undefined);
    const event = pod.seen.events().find(({ reason }) => reason === 'FailedPostStartHook');
    assert.deepEqual(event && [event.type, event.message.startsWith('PostStartHook failed')], ['Warning', true]);
    await pod.turn('way', true);
    const now = await pod.when('is ready', isReady);
    assert.ok(containerOf(now).restartCount >= 1);
  });

  story(open, 'before the end that fails, or that nobody ever ran, keeps nobody from ending', async (stage) => {
    const hooks = { command: command({ exits: 7 }), socket: { tcpSocket: { port } } };
    const pod = await stage.give({
      name: 'hook-fails-late',
      spec: { terminationGracePeriodSeconds: 30 },
      containers: Object.entries(hooks).map(([name, preStop]) => container(name, {}, { lifecycle: { preStop } })),
    });
    await pod.when('is ready', isReady);
    await pod.remove();
    await pod.gone();
    const trail = await pod.seen.trail();
    for (const name of Object.keys(hooks)) assert.ok(between(trail, 'removed', `${name} ends`) < 10, name);
    const failures = pod.seen.events().filter(({ reason }) => reason === 'FailedPreStopHook');
    assert.equal(failures.length, 2, JSON.stringify(pod.seen.events()));
  });
}
