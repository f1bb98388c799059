import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { command, container, sidecar, type Fields } from './plan.ts';
import { containerOf, isOver, isReady, runsAgain, wordsOf, type OpenStage } from './stage.ts';
import { story } from './story.ts';

/** Passes once `name` is turned on. */
const startsWhen = (name: string): Fields => ({
  startupProbe: { ...command({ wants: name }), periodSeconds: 1, failureThreshold: 60, timeoutSeconds: 10 },
});

/** Init containers, sidecars and regular ones: who waits for whom. */
export function orderStories(open: OpenStage): void {
  void describe('the order', { concurrency: true }, () => {
    story(
      open,
      'of init containers and sidecars is theirs in the pod, and sidecars end last, the latest first',
      async (stage) => {
        const pod = await stage.give({
          name: 'order',
          spec: { terminationGracePeriodSeconds: 30 },
          init: [
            container('first', { runs: 0.5 }),
            sidecar('outer', {}, startsWhen('outer-up')),
            container('second', { runs: 0 }),
            sidecar('inner', {}, startsWhen('inner-up')),
          ],
          containers: [container('main', { onTerm: { after: 1 } })],
        });
        const inits = ['first starts', 'first ends', 'outer starts'];
        await pod.when('has its first sidecar', (now) => containerOf(now, 'outer').state?.running !== undefined);
        await stage.pass(2.5);
        // Nobody starts before the sidecar has.
        assert.deepEqual(wordsOf(await pod.seen.trail()), inits);
        assert.equal((await pod.now())?.status?.phase, 'Pending');
        await pod.turn('outer-up', true);
        await pod.turn('inner-up', true);
        const ready = await pod.when('is ready', isReady);
        assert.deepEqual(
          ['outer', 'inner'].map((name) => containerOf(ready, name).started),
          [true, true],
        );
        const started = [...inits, 'second starts', 'second ends', 'inner starts', 'main starts'];
        assert.deepEqual(wordsOf(await pod.seen.trail()), started);

        await pod.remove();
        await pod.gone();
        const ended = wordsOf(await pod.seen.trail()).slice(started.length);
        const order = ['main', 'inner', 'outer'].flatMap((name) => [`${name} asked`, `${name} ends`]);
        assert.deepEqual(ended, ['removed', ...order]);
      },
    );

    initStories(open);
    sidecarStories(open);
  });
}

function initStories(open: OpenStage): void {
  story(open, 'ends with an init container that fails where nothing is restarted', async (stage) => {
    const pod = await stage.give({
      name: 'init-fails',
      spec: { restartPolicy: 'Never' },
      init: [container('first', { runs: 0, exits: 4 }), container('second', { runs: 0 })],
      containers: [container('main')],
    });
    const now = await pod.when('is over', isOver);
    assert.equal(now.status?.phase, 'Failed');
    assert.equal(containerOf(now, 'first').state?.terminated?.exitCode, 4);
    for (const name of ['second', 'main']) {
      assert.equal(containerOf(now, name).state?.waiting?.reason, 'PodInitializing');
    }
    assert.deepEqual(await pod.seen.containers(), ['first#0 ended']);
  });

  story(open, 'waits for an init container that fails where it is restarted', async (stage) => {
    const pod = await stage.give({
      name: 'init-retries',
      init: [container('first', [{ runs: 0, exits: 4 }, { runs: 0.3 }]), container('second', { runs: 0 })],
      containers: [container('main')],
    });
    const now = await pod.when('is ready', isReady);
    assert.deepEqual(
      ['first', 'second', 'main'].map((name) => containerOf(now, name).restartCount),
      [1, 0, 0],
    );
    const ran = ['first', 'first', 'second'].flatMap((name) => [`${name} starts`, `${name} ends`]);
    assert.deepEqual(wordsOf(await pod.seen.trail()), [...ran, 'main starts']);
  });
}

function sidecarStories(open: OpenStage): void {
  story(
    open,
    'is not disturbed by a sidecar that dies: it alone comes back, even where nothing is restarted',
    async (stage) => {
      const pod = await stage.give({
        name: 'sidecar-dies',
        spec: { restartPolicy: 'Never' },
        init: [sidecar('side', [{ runs: { until: 'dead' }, exits: 1 }, {}])],
        containers: [container('main')],
      });
      await pod.when('is ready', isReady);
      await pod.turn('dead', true);
      const now = await pod.when('has its sidecar again', runsAgain(1, 'side'));
      assert.equal(containerOf(now, 'side').lastState?.terminated?.exitCode, 1);
      assert.deepEqual([now.status?.phase, containerOf(now).restartCount], ['Running', 0]);
      assert.deepEqual(wordsOf(await pod.seen.trail()), ['side starts', 'main starts', 'side ends', 'side starts']);
    },
  );

  story(
    open,
    'of a pod that has done its work: the sidecar ends after the last container, and the pod succeeds',
    async (stage) => {
      const pod = await stage.give({
        name: 'sidecar-ends',
        spec: { restartPolicy: 'Never' },
        init: [sidecar('side')],
        containers: [container('main', { runs: 1 })],
      });
      const now = await pod.when('is over', isOver);
      assert.equal(now.status?.phase, 'Succeeded');
      const words = ['side starts', 'main starts', 'main ends', 'side asked', 'side ends'];
      assert.deepEqual(wordsOf(await pod.seen.trail()), words);
    },
  );
}
