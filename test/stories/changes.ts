import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { command, container, type PodPlan } from './plan.ts';
import { containerOf, isReady, momentOf, wordsOf, type OpenStage } from './stage.ts';
import { story } from './story.ts';

/** Manifests that change, and go. */
export function changeStories(open: OpenStage): void {
  void describe('a manifest', { concurrency: true }, () => {
    story(
      open,
      'that is edited in place: the old pod ends before the new one starts, and that in seconds',
      async (stage) => {
        const plan = (name: string): PodPlan => ({
          name: 'edited',
          spec: { terminationGracePeriodSeconds: 30 },
          containers: [container(name, { onTerm: { after: 1 } })],
        });
        const pod = await stage.give(plan('old'));
        const before = await pod.when('is ready', isReady);
        await pod.edit(plan('new'));
        const has = (name: string) => (now: typeof before) =>
          now.status?.containerStatuses?.[0]?.name === name && isReady(now);
        const after = await pod.when('is another pod', has('new'));
        assert.notEqual(after.metadata?.uid, before.metadata?.uid);
        const trail = await pod.seen.trail();
        assert.deepEqual(wordsOf(trail), ['old starts', 'old asked', 'old ends', 'new starts']);
        assert.ok(momentOf(trail, 'new starts') - momentOf(trail, 'old ends') < 10);
      },
    );

    story(
      open,
      'that is deleted and written anew at once restarts its pod, one replaced by a rename does not',
      async (stage) => {
        const pod = await stage.give({ name: 'anew', containers: [container('main', { onTerm: { after: 0 } })] });
        const first = await pod.when('is ready', isReady);
        await pod.writeAnew();
        const after = await pod.when(
          'has restarted',
          (now) => isReady(now) && containerOf(now, 'main').restartCount === 1,
        );
        assert.equal(after.metadata?.uid, first.metadata?.uid);
        assert.notEqual(containerOf(after, 'main').containerID, containerOf(first, 'main').containerID);
        assert.equal(
          containerOf(after, 'main').lastState?.terminated?.containerID,
          containerOf(first, 'main').containerID,
        );
        assert.deepEqual(wordsOf(await pod.seen.trail()), ['main starts', 'main asked', 'main ends', 'main starts']);
        await pod.replaceFile();
        await stage.pass(3);
        const last = await pod.when('is ready', isReady);
        assert.equal(containerOf(last, 'main').containerID, containerOf(after, 'main').containerID);
        assert.deepEqual(await pod.seen.containers(), ['main#0 ended', 'main#1 running']);
      },
    );

    story(open, 'that goes takes everything with it', async (stage) => {
      const pod = await stage.give({ name: 'goes', containers: [container('main')] });
      await pod.when('is ready', isReady);
      assert.deepEqual(await pod.seen.containers(), ['main#0 running']);
      await pod.remove();
      await pod.gone();
      assert.deepEqual(wordsOf(await pod.seen.trail()), ['main starts', 'removed', 'main asked', 'main ends']);
      const killing = pod.seen.events().filter(({ reason }) => reason === 'Killing');
      assert.deepEqual(
        killing.map(({ message }) => message),
        ['Stopping container main'],
      );
      await stage.pass(1);
      assert.equal(await pod.now(), undefined);
    });
  });
}

/** For stages on which nothing else is played: the agent ends while pods run. */
export function agentStories(open: OpenStage): void {
  void describe('an agent', () => {
    for (const how of ['kill', 'graceful'] as const) {
      story(open, `that ends (${how}) and comes back leaves pods as they were, ready throughout`, async (stage) => {
        const readinessProbe = { ...command({ wants: 'ready' }), periodSeconds: 2, timeoutSeconds: 10 };
        const pod = await stage.give({
          name: `agent-${how}`,
          containers: [container('main', {}, { readinessProbe }), container('other')],
        });
        await pod.turn('ready', true);
        const before = await pod.when('is ready', isReady);
        // What is seen is written down within a second or so, for the case that there is no time for it in the end.
        await stage.pass(3);
        const past = pod.seen.statuses().length;
        await stage.restartAgent(how);
        await pod.when('is ready', isReady);
        await stage.pass(5);
        const after = await pod.when('is ready', isReady);
        const identity = (now: typeof before): unknown =>
          ['main', 'other'].map((name) => containerOf(now, name).containerID);
        assert.deepEqual(identity(after), identity(before));
        assert.deepEqual(await pod.seen.containers(), ['main#0 running', 'other#0 running']);
        const unready = pod.seen
          .statuses()
          .slice(past)
          .filter(({ conditions }) => conditions?.some(({ type, status }) => type === 'Ready' && status !== 'True'));
        assert.deepEqual(unready, []);
        const since = (now: typeof before): unknown =>
          now.status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
        assert.equal(since(after), since(before));
      });
    }
  });
}
