import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { container } from './plan.ts';
import { conditionOf, containerOf, isOver, momentOf, runsAgain, waitsFor, wordsOf, type OpenStage } from './stage.ts';
import { story } from './story.ts';

const sideBySide = { concurrency: true };

/** Who starts again, who does not, and when. */
export function restartStories(open: OpenStage): void {
  void describe('a container that ends', sideBySide, () => {
    policyStories(open);
    ruleStories(open);
    backOffStories(open);

    story(open, 'in failure is told by the phase of its pod, whatever became of the others', async (stage) => {
      const pod = await stage.give({
        name: 'never',
        spec: { restartPolicy: 'Never' },
        containers: [container('good', { runs: 0 }), container('bad', { runs: 0, exits: 5 })],
      });
      const ended = await pod.when('is over', isOver);
      assert.equal(ended.status?.phase, 'Failed');
      const endOf = (name: string): unknown => {
        const { exitCode, reason } = containerOf(ended, name).state?.terminated ?? {};
        return [exitCode, reason, containerOf(ended, name).restartCount];
      };
      assert.deepEqual(
        [endOf('good'), endOf('bad')],
        [
          [0, 'Completed', 0],
          [5, 'Error', 0],
        ],
      );
    });

    story(open, 'by order when the pod has had its time', async (stage) => {
      const pod = await stage.give({
        name: 'deadline',
        spec: { activeDeadlineSeconds: 8 },
        containers: [container('main')],
      });
      const { status } = await pod.when('is over', isOver);
      assert.deepEqual(
        [status?.phase, status?.reason, status?.message],
        ['Failed', 'DeadlineExceeded', 'Pod was active on the node longer than the specified deadline'],
      );
      await pod.when('has ended', (now) => containerOf(now).state?.terminated !== undefined);
      const trail = await pod.seen.trail();
      assert.deepEqual(wordsOf(trail), ['main starts', 'main asked', 'main ends']);
    });
  });
}

function policyStories(open: OpenStage): void {
  const table = [
    ['Always', 0, true],
    ['Always', 1, true],
    ['OnFailure', 0, false],
    ['OnFailure', 1, true],
    ['Never', 0, false],
    ['Never', 1, false],
  ] as const;
  for (const [restartPolicy, exits, again] of table) {
    story(open, `with ${exits}, policy ${restartPolicy}: ${again ? 'starts again' : 'stays ended'}`, async (stage) => {
      const pod = await stage.give({
        name: `${restartPolicy}-${exits}`.toLowerCase(),
        spec: { restartPolicy },
        containers: [container('main', [{ runs: 0.3, exits }, {}])],
      });
      const end = { exitCode: exits, reason: exits === 0 ? 'Completed' : 'Error' };
      if (again) {
        const now = await pod.when('runs again', runsAgain(1));
        const { exitCode, reason } = containerOf(now).lastState?.terminated ?? {};
        assert.deepEqual({ exitCode, reason }, end);
        assert.equal(now.status?.phase, 'Running');
        assert.deepEqual(wordsOf(await pod.seen.trail()), ['main starts', 'main ends', 'main starts']);
        return;
      }
      const now = await pod.when('is over', isOver);
      const { state, restartCount } = containerOf(now);
      const { exitCode, reason } = state?.terminated ?? {};
      assert.deepEqual({ exitCode, reason }, end);
      assert.deepEqual([now.status?.phase, restartCount], [exits === 0 ? 'Succeeded' : 'Failed', 0]);
      assert.equal(conditionOf(now), 'False');
      assert.deepEqual(await pod.seen.containers(), ['main#0 ended']);
    });
  }
}

function ruleStories(open: OpenStage): void {
  story(open, 'starts again by its own policy and rules, whatever the pod says', async (stage) => {
    const restartPolicyRules = [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }];
    const byRule = { restartPolicy: 'Never', restartPolicyRules };
    const pod = await stage.give({
      name: 'rules',
      spec: { restartPolicy: 'Never' },
      containers: [
        container('named', [{ runs: 0, exits: 42 }, { runs: 0 }], byRule),
        container('unnamed', { runs: 0, exits: 41 }, byRule),
        container('policy', [{ runs: 0, exits: 1 }, { runs: 0 }], { restartPolicy: 'OnFailure' }),
      ],
    });
    const now = await pod.when('is over', isOver);
    const seen = ['named', 'unnamed', 'policy'].map((name) => {
      const { restartCount, state } = containerOf(now, name);
      return [restartCount, state?.terminated?.exitCode];
    });
    assert.deepEqual(seen, [
      [1, 0],
      [0, 41],
      [1, 0],
    ]);
    assert.equal(now.status?.phase, 'Failed');
  });
}

function backOffStories(open: OpenStage): void {
  story(open, 'again and again is held back for ten seconds, and says so', async (stage) => {
    const pod = await stage.give({ name: 'crash', containers: [container('main', { runs: 0.2, exits: 3 })] });
    const now = await pod.when('is held back', waitsFor('CrashLoopBackOff'));
    const called = `${pod.name}_default(${now.metadata?.uid})`;
    const { state, lastState, restartCount } = containerOf(now);
    assert.equal(state?.waiting?.message, `back-off 10s restarting failed container=main pod=${called}`);
    assert.deepEqual([lastState?.terminated?.exitCode, restartCount, now.status?.phase], [3, 1, 'Running']);
    const event = pod.seen.events().find(({ reason }) => reason === 'BackOff');
    assert.deepEqual(event && [event.type, event.message], [
      'Warning',
      `Back-off restarting failed container main in pod ${called}`,
    ]);

    await pod.when('has tried a third time', (later) => containerOf(later).restartCount === 2);
    const trail = await pod.seen.trail();
    const starts = trail.filter(({ word }) => word === 'main starts');
    const ends = trail.filter(({ word }) => word === 'main ends');
    const first = momentOf(starts.slice(1), 'main starts') - momentOf(ends, 'main ends');
    const second = momentOf(starts.slice(2), 'main starts') - momentOf(ends.slice(1), 'main ends');
    assert.ok(first < 9, `the first time at once: ${first} s`);
    assert.ok(second > 9.5 && second < 20, `the second time after ten seconds: ${second} s`);
  });
}
