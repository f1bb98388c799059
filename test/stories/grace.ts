import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { command, container, sidecar } from './plan.ts';
import { containerOf, isReady, momentOf, runsAgain, type Mark, type OpenStage } from './stage.ts';
import { story } from './story.ts';

/** Seconds that a program lived on after it was asked to end. */
function livedOn(trail: readonly Mark[], container = 'main'): number {
  return momentOf(trail, `${container} ends`) - momentOf(trail, `${container} asked`);
}

/** A program looks and notes ten times a second, and the machine may be busy: never much too early, a bit too late. */
function assertLived(seconds: number, wanted: number): void {
  assert.ok(seconds > wanted - 0.5 && seconds < wanted + 1.9, `it lived on for ${seconds} s, not ${wanted}`);
}

/** How long containers have between SIGTERM and SIGKILL. */
export function graceStories(open: OpenStage): void {
  void describe('a container that is stopped', { concurrency: true }, () => {
    story(
      open,
      'and does not listen is killed at the end of the grace, and so are all others of its pod',
      async (stage) => {
        const pod = await stage.give({
          name: 'deaf',
          spec: { terminationGracePeriodSeconds: 4 },
          containers: [container('main', { onTerm: 'ignore' }), container('other', { onTerm: 'ignore' })],
        });
        await pod.when('is ready', isReady);
        await pod.remove();
        await pod.gone();
        const trail = await pod.seen.trail();
        assertLived(livedOn(trail), 4);
        assertLived(livedOn(trail, 'other'), 4);
      },
    );

    story(open, 'and takes its time ends by itself within the grace', async (stage) => {
      const pod = await stage.give({
        name: 'slow',
        spec: { terminationGracePeriodSeconds: 30 },
        containers: [container('main', { onTerm: { after: 2 } })],
      });
      await pod.when('is ready', isReady);
      await pod.remove();
      await pod.gone();
      const trail = await pod.seen.trail();
      assertLived(livedOn(trail), 2);
      assert.ok(momentOf(trail, 'main asked') - momentOf(trail, 'removed') < 5, 'it was asked at once');
    });

    story(open, 'by a probe has the grace of that probe', async (stage) => {
      const livenessProbe = {
        ...command({ wants: 'alive' }),
        // By then its shell listens to signals.
        initialDelaySeconds: 3,
        periodSeconds: 1,
        failureThreshold: 1,
        timeoutSeconds: 10,
        terminationGracePeriodSeconds: 2,
      };
      const pod = await stage.give({
        name: 'probe-grace',
        spec: { terminationGracePeriodSeconds: 60 },
        containers: [container('main', [{ onTerm: 'ignore' }, {}], { livenessProbe })],
      });
      await pod.when('has been killed', (now) => containerOf(now).lastState?.terminated !== undefined);
      await pod.turn('alive', true);
      const now = await pod.when('runs again', runsAgain(1));
      const { exitCode, reason } = containerOf(now).lastState?.terminated ?? {};
      assert.deepEqual([exitCode, reason], [137, 'Error']);
      assertLived(livedOn(await pod.seen.trail()), 2);
    });

    story(open, 'and uses up the grace leaves two seconds to a sidecar', async (stage) => {
      const deaf = { onTerm: 'ignore' } as const;
      const pod = await stage.give({
        name: 'deaf-both',
        spec: { terminationGracePeriodSeconds: 3 },
        init: [sidecar('side', deaf)],
        containers: [container('main', deaf)],
      });
      await pod.when('is ready', isReady);
      await pod.remove();
      await pod.gone();
      const trail = await pod.seen.trail();
      assertLived(livedOn(trail), 3);
      assertLived(livedOn(trail, 'side'), 2);
      // The runtime kills main when it thinks the 3 s are over, the agent turns to the sidecar when it thinks so.
      const between = momentOf(trail, 'side asked') - momentOf(trail, 'main asked');
      assert.ok(between > 2, `the sidecar was asked to end ${between} s after main, which had 3`);
    });
  });
}
