import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { Duration } from '../base/duration.ts';
import { podUid } from '../base/ids.ts';
import { aPod } from '../testing/pods.ts';
import { computeGroups, neededSeconds } from './compute-groups.ts';
import { computePlan } from './plan.ts';
import { formatTimes, metricSeconds, parseTimes } from './state-text.ts';

interface GroupRow {
  readonly priorities: readonly (readonly [priority: number, seconds: number])[];
  readonly requested: string;
  readonly podsOfGroup?: readonly (readonly (number | null)[])[];
  readonly shutdownGracePeriod?: string;
  readonly shutdownGracePeriodCriticalPods?: string;
  readonly shutdownGracePeriodByPodPriority?: readonly (readonly [number, number])[];
}

interface StateRow {
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

const { groups: groupRows, state } = JSON.parse(readFileSync('test/golden/cgroups/shutdown.json', 'utf8')) as {
  readonly groups: readonly GroupRow[];
  readonly state: readonly StateRow[];
};

describe('groups and their pods, as a Go kubelet makes them', () => {
  for (const row of groupRows) {
    const { shutdownGracePeriod: whole = '0s', shutdownGracePeriodCriticalPods: critical = '0s' } = row;
    const list = row.shutdownGracePeriodByPodPriority ?? [];
    test(list.length > 0 ? JSON.stringify(list) : `${whole}, ${critical} of them for critical pods`, () => {
      const nanos = (text: string): bigint => Duration.parse(text).nanos;
      const byPriority = list.map(([priority, seconds]) => ({ priority, seconds }));
      const groups = computeGroups({ whole: nanos(whole), critical: nanos(critical), byPriority });
      assert.deepEqual(
        groups.map(({ priority, seconds }) => [priority, seconds]),
        row.priorities,
      );
      assert.equal(Duration.ofSeconds(neededSeconds(groups)).toString(), row.requested);
      const rows = row.podsOfGroup ?? [];
      const priorities = rows.flat();
      const pods = priorities.map((priority, index) =>
        aPod({ uid: String(index), spec: { ...(priority !== null && { priority }) } }),
      );
      const plan = computePlan(groups, pods).map((group) => group.pods.map(({ uid }) => priorities[Number(uid)]));
      assert.deepEqual(plan, rows);
    });
  }
});

describe('the state file of a Go kubelet', () => {
  for (const { file, start, end } of state) {
    test(file, () => {
      const times = parseTimes(file);
      assert.deepEqual([metricSeconds(times?.startMs), metricSeconds(times?.endMs)], [start, end]);
      const again = parseTimes(formatTimes(times ?? {}));
      assert.deepEqual(again, times);
    });
  }

  test('is written in its form', () => {
    const startMs = Date.parse('2026-01-02T03:04:05.6Z');
    const start = '"startTime":"2026-01-02T03:04:05.6Z"';
    assert.equal(formatTimes({ startMs }), `{${start},"endTime":"0001-01-01T00:00:00Z"}`);
    const endMs = Date.parse('2026-01-02T03:04:10Z');
    assert.equal(formatTimes({ startMs, endMs }), `{${start},"endTime":"2026-01-02T03:04:10Z"}`);
    assert.equal(formatTimes({}), state[0]?.file);
  });

  test('is not believed when it is something else', () => {
    for (const text of ['', '{', 'null', '7', '{"startTime":7}', '{"startTime":"soon","endTime":"later"}']) {
      assert.equal(parseTimes(text), undefined, text);
    }
  });
});

test('grace: the pod’s own, at most what the group has, at least a second', () => {
  const pod = (name: string, seconds?: number) =>
    aPod({
      uid: podUid(name),
      name,
      spec: { ...(seconds !== undefined && { terminationGracePeriodSeconds: seconds }) },
    });
  const graceIn = (seconds: number) =>
    computePlan([{ priority: 0, seconds }], [pod('short', 5), pod('long', 60), pod('none', 0)])[0]?.pods.map(
      ({ graceSeconds }) => graceSeconds,
    );
  assert.deepEqual(graceIn(20), [5, 20, 1]);
  assert.deepEqual(graceIn(0), [1, 1, 1]);
});
