import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../src/gen/kubernetes/types.ts';
import { apiResources } from '../../src/model/api-resources.ts';
import { exitAfter, stopsSlowly } from '../../src/testing/fake-cri/index.ts';
import { aStaticPod, ClusterWorld } from '../support/cluster-world.ts';

/** Longer than the longest pause between two tries. */
const tryAgainMs = 50_000;
const numbered = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);

async function started(options: ConstructorParameters<typeof ClusterWorld>[0] = {}): Promise<ClusterWorld> {
  const it = new ClusterWorld(options);
  await it.start();
  return it;
}

describe('an API server that is away for a while', () => {
  test('what was bound and deleted meanwhile comes and goes when it is back', async () => {
    const it = await started();
    it.bind('old');
    it.bind('stays');
    await it.clock.advance(2_000);
    it.api.faults.away();
    it.bind('new');
    it.delete('old');
    await it.clock.advance(600_000);
    assert.deepEqual([it.containers('old'), it.containers('new')], [['main#0 running'], []]);
    it.api.faults.back();
    await it.clock.advance(tryAgainMs);
    assert.deepEqual([it.pod('old'), it.phase('new'), it.phase('stays')], [undefined, 'Running', 'Running']);
    assert.deepEqual([it.containers('old'), it.containers('stays')], [[], ['main#0 running']]);
    await it.stop();
  });

  test('containers restart without it, and the last word about each is told once', async () => {
    const it = await started();
    it.cri.programs.otherwise(({ pod, attempt }) =>
      pod.startsWith('crash') && attempt < 3 ? exitAfter(5_000, 1) : {},
    );
    const names = [...numbered('crash', 5), ...numbered('calm', 5)];
    for (const name of names) it.bind(name);
    await it.clock.advance(2_000);
    it.api.faults.away();
    it.api.forgetRequests();
    await it.clock.advance(300_000);
    const ofPods = it.api.requests().filter(({ resource }) => resource !== 'leases' && resource !== 'nodes');
    assert.ok(ofPods.length < 300, 'it is tried for in vain now and then, not in a circle');
    assert.equal(it.pod('crash-0')?.status?.containerStatuses?.[0]?.restartCount, 0);
    it.api.forgetRequests();
    it.api.faults.back();
    await it.clock.advance(tryAgainMs);
    for (const name of names) {
      const { restartCount, state, lastState } = it.pod(name)?.status?.containerStatuses?.[0] ?? {};
      assert.equal(restartCount, name.startsWith('crash') ? 3 : 0, name);
      assert.ok(state?.running !== undefined && it.isReady(name));
      assert.equal(lastState?.terminated?.exitCode, name.startsWith('crash') ? 1 : undefined);
    }
    const told = it.writes({ status: 200 });
    assert.deepEqual(
      told.toSorted(),
      numbered('crash', 5).map((name) => `patch status ${name}`),
    );
    await it.stop();
  });

  test('a pod that was told to go before has gone when it is back, and is taken out', async () => {
    const it = await started();
    it.cri.programs.otherwise(() => stopsSlowly(5_000, 0));
    it.bind('web', { terminationGracePeriodSeconds: 30 });
    await it.clock.advance(2_000);
    it.delete('web');
    await it.clock.advance(1_000);
    it.api.faults.away();
    await it.clock.advance(90_000);
    assert.deepEqual(
      it.containers('web').filter((word) => word.endsWith('running')),
      [],
    );
    assert.notEqual(it.pod('web'), undefined);
    it.api.faults.back();
    await it.clock.advance(tryAgainMs);
    assert.equal(it.pod('web'), undefined);
    const words = it.api.requests({ resource: 'pods', status: 200 }).flatMap(({ verb, body }) => {
      if (verb === 'delete') return ['delete'];
      return verb === 'patch' ? [(body as Pod).status?.phase ?? 'same phase'] : [];
    });
    assert.deepEqual(words.slice(-2), ['Succeeded', 'delete']);
    await it.stop();
  });

  test('no event is lost and none is told twice, however answers get lost', async () => {
    const it = await started();
    it.cri.programs.otherwise(({ attempt }) => (attempt < 2 ? exitAfter(1_000, 1) : {}));
    const isEvent = { when: ({ resource }: { resource: string | undefined }) => resource === 'events' };
    it.api.faults.loseAnswers({ ...isEvent, times: 3 });
    for (const name of numbered('web', 3)) it.bind(name);
    await it.clock.advance(2_000);
    it.api.faults.away();
    await it.clock.advance(120_000);
    it.api.faults.loseAnswers({ ...isEvent, times: 2 });
    it.api.faults.back();
    await it.clock.advance(300_000);
    for (const name of numbered('web', 3)) {
      const told = it.events().filter((event) => event.startsWith(`${name} `) && !event.includes('BackOff'));
      assert.deepEqual(
        told.toSorted(),
        ['Created 3', 'Pulled 3', 'Started 3'].map((word) => `${name} ${word}`),
      );
    }
    assert.doesNotMatch(it.metrics, /tubelet_events_lost_total\{.*\} [1-9]/);
    await it.stop();
  });

  test('it is not overrun when it is back', async () => {
    const limits = { qps: 5, burst: 10 };
    const it = await started({ limits });
    it.cri.programs.otherwise(({ attempt }) => (attempt < 1 ? exitAfter(60_000, 1) : {}));
    const names = numbered('web', 40);
    for (const name of names) it.bind(name);
    await it.clock.advance(50_000);
    assert.ok(names.every((name) => it.phase(name) === 'Running'));
    it.api.faults.away();
    await it.clock.advance(300_000);
    it.api.faults.back();
    it.api.forgetRequests();
    await it.clock.advance(100_000);
    assert.ok(names.every((name) => it.pod(name)?.status?.containerStatuses?.[0]?.restartCount === 1));
    const times = it.api
      .requests()
      .filter(({ resource }) => resource !== 'events')
      .map(({ at }) => at);
    const most = Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1_000).length));
    assert.ok(most <= limits.burst + limits.qps, `${most} requests within a second`);
    await it.stop();
  });

  test('watches that break off or are too old cost no change', async () => {
    const it = await started();
    const trouble = [
      () => it.api.faults.garbage(),
      () => it.api.faults.dropWatches('expired'),
      () => it.api.faults.dropWatches('ended'),
      () => it.api.faults.dropWatches('broken'),
      () => it.api.compact(),
    ];
    for (const [index, happens] of trouble.entries()) {
      happens();
      it.bind(`web-${index}`);
      await it.clock.advance(10_000);
      assert.equal(it.phase(`web-${index}`), 'Running', String(happens));
      it.delete(`web-${index}`);
      await it.clock.advance(10_000);
      assert.equal(it.pod(`web-${index}`), undefined, String(happens));
    }
    await it.stop();
  });

  test('a watch that nothing comes from any more is noticed', async () => {
    const it = await started();
    await it.clock.advance(70_000);
    it.api.faults.silenceWatches();
    it.bind('web');
    // After the time that was asked for, at the latest, and some patience.
    await it.clock.runUntil(() => it.phase('web') === 'Running', 800_000);
    await it.stop();
  });
});

describe('an API server whose store went back', () => {
  test('pods it never knew end with their grace, those it still has run, the rest is not touched', async () => {
    const it = await started();
    it.cri.programs.otherwise(() => stopsSlowly(3_000));
    const both = it.bind('both');
    const doomed = it.bind('doomed');
    await it.clock.advance(20_000);
    const snapshot = it.api.snapshot();
    const late = it.bind('late');
    it.delete('doomed');
    await it.clock.advance(60_000);
    assert.deepEqual([it.pod('doomed'), it.phase('late')], [undefined, 'Running']);
    const stops = (): number => it.cri.calls.filter(({ verb }) => verb === 'stopContainer').length;
    const stopsBefore = stops();
    it.api.restore(snapshot);
    await it.clock.advance(tryAgainMs);
    assert.deepEqual(it.containersOf(both), ['main#0 running']);
    assert.deepEqual(it.containersOf(late), []);
    assert.equal(stops() - stopsBefore, 1, 'it was asked to end, with its grace');
    assert.deepEqual(it.containersOf(doomed), ['main#0 running'], 'it is wanted again');
    assert.deepEqual([it.phase('doomed'), it.isReady('doomed'), it.isReady('both')], ['Running', true, true]);
    it.bind('next');
    it.delete('doomed');
    await it.clock.advance(tryAgainMs);
    assert.deepEqual([it.phase('next'), it.pod('doomed')], ['Running', undefined]);
    await it.stop();
  });

  test('a static pod is shown again', async () => {
    const it = await started();
    const snapshot = it.api.snapshot();
    const pod = aStaticPod('static');
    await it.manifests(pod);
    await it.clock.advance(20_000);
    assert.equal(it.phase('static-node-1'), 'Running');
    it.api.restore(snapshot);
    await it.clock.advance(tryAgainMs);
    assert.equal(it.phase('static-node-1'), 'Running');
    assert.deepEqual(it.containersOf(pod.uid), ['main#0 running']);
    assert.equal(it.api.objects.all(apiResources.pods).length, 1);
    await it.stop();
  });
});
