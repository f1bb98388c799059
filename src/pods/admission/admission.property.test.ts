import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { podQos, type QosClass } from '../../model/qos.ts';
import { anAdmissionNode } from '../../testing/admission-node.ts';
import { aContainer, aPod } from '../../testing/pods.ts';
import { admissionChain, admitByRules } from './chain.ts';
import { computePreemption } from './preemption.ts';
import { requestOf } from './requests.ts';
import { computeShortages, missingOf } from './shortages.ts';
import type { AdmissionInput } from './pod-admit-result.ts';

const gpu = 'example.com/gpu';
const amount = fc.integer({ min: 0, max: 8 });

interface PodShape {
  readonly requests: Readonly<Record<string, number>>;
  readonly exact: boolean;
  readonly source: 'api' | 'file';
  readonly priority: number | undefined;
  readonly hostPort: number;
}

/** Small numbers, so that shortages, ties and exact fits are common. */
const anyPod: fc.Arbitrary<PodShape> = fc.record({
  requests: fc.record({ cpu: amount, memory: amount, [gpu]: fc.integer({ min: 0, max: 2 }) }),
  exact: fc.boolean(),
  source: fc.constantFrom<'api' | 'file'>('api', 'api', 'api', 'file'),
  priority: fc.constantFrom(undefined, 0, 10, 2_000_000_000, 2_000_001_000),
  hostPort: fc.constantFrom(0, 0, 0, 80, 81),
});

function build({ requests, exact, source, priority, hostPort }: PodShape, uid: string): DesiredPod {
  const amounts = Object.fromEntries(Object.entries(requests).map(([name, value]) => [name, String(value)]));
  const resources = { requests: amounts, ...(exact && { limits: amounts }) };
  const ports = [{ containerPort: 80, hostPort }];
  return aPod({
    uid,
    source,
    spec: { containers: [aContainer('c', { resources, ports })], ...(priority !== undefined && { priority }) },
  });
}

const input: fc.Arbitrary<AdmissionInput> = fc
  .record({
    pod: anyPod,
    active: fc.array(anyPod, { maxLength: 8 }),
    capacity: fc.record({
      cpu: fc.nat(30),
      memory: fc.nat(30),
      [gpu]: fc.nat(4),
      pods: fc.integer({ min: 1, max: 9 }),
    }),
  })
  .map(({ pod, active, capacity }) => ({
    pod: build(pod, 'asked'),
    active: active.map((shape, index) => build(shape, `active-${index}`)),
    node: anAdmissionNode({
      allocatable: Object.fromEntries(Object.entries(capacity).map(([name, value]) => [name, String(value)])),
    }),
  }));

/** A full node and a critical pod: a victim is needed, many pods are alike, and some cover one resource only. */
const crowded: fc.Arbitrary<AdmissionInput> = fc
  .record({
    asked: fc.constantFrom([10, 10], [7, 1], [1, 14]),
    active: fc.array(
      fc.record({ amounts: fc.constantFrom([7, 7], [10, 0], [0, 10], [0, 0], [10, 10]), exact: fc.boolean() }),
      { minLength: 2, maxLength: 6 },
    ),
    tooMany: fc.nat(2),
  })
  .map(({ asked, active, tooMany }) => {
    const shape = ([cpu = 0, memory = 0]: readonly number[], exact: boolean, priority: number): PodShape => {
      return { requests: { cpu, memory, [gpu]: 0 }, exact, source: 'api', priority, hostPort: 0 };
    };
    const sum = (index: number): string =>
      String(active.reduce((total, { amounts }) => total + (amounts[index] ?? 0), 0));
    const pods = String(Math.max(1, active.length - tooMany));
    return {
      pod: build(shape(asked, false, 2_000_000_000), 'asked'),
      active: active.map(({ amounts, exact }, index) => build(shape(amounts, exact, 0), `active-${index}`)),
      node: anAdmissionNode({ allocatable: { cpu: sum(0), memory: sum(1), pods } }),
    };
  });

const chain = admissionChain();

test('more of any resource never makes an admitted pod a rejected one', () => {
  const more = fc.record({ cpu: amount, memory: amount, [gpu]: amount, pods: amount });
  fc.assert(
    fc.property(input, more, (asked, added) => {
      fc.pre(admitByRules(chain, asked).admit !== false);
      const allocatable = Object.fromEntries(
        Object.entries(asked.node.allocatable).map(([name, value]) => [
          name,
          String(Number(value) + (added[name as keyof typeof added] ?? 0)),
        ]),
      );
      assert.notEqual(admitByRules(chain, { ...asked, node: { ...asked.node, allocatable } }).admit, false);
    }),
  );
});

test('one pod less never makes an admitted pod a rejected one', () => {
  fc.assert(
    fc.property(input, fc.nat(7), (asked, index) => {
      const result = admitByRules(chain, asked);
      fc.pre(result.admit === true);
      assert.deepEqual(admitByRules(chain, { ...asked, active: asked.active.toSpliced(index, 1) }), result);
    }),
  );
});

test('the order of the other pods does not matter', () => {
  const shuffled = fc
    .oneof(input, crowded)
    .chain((asked) =>
      fc
        .shuffledSubarray([...asked.active], { minLength: asked.active.length })
        .map((active) => ({ asked, again: { ...asked, active } })),
    );
  fc.assert(
    fc.property(shuffled, ({ asked, again }) => {
      const [first, second] = [admitByRules(chain, asked), admitByRules(chain, again)];
      if (first.admit !== 'afterPreempting' || second.admit !== 'afterPreempting') {
        assert.deepEqual(first, second);
        return;
      }
      assert.deepEqual(first.victims.toSorted(), second.victims.toSorted());
    }),
    { numRuns: 400 },
  );
});

const classOrder: readonly QosClass[] = ['BestEffort', 'Burstable', 'Guaranteed'];

test('preemption frees enough, by the lowest classes that can, and no victim is superfluous', () => {
  fc.assert(
    fc.property(fc.oneof(input, crowded), ({ pod, active, node }) => {
      const critical = { ...pod, spec: { ...pod.spec, priority: 2_000_000_000 } };
      const shortages = computeShortages({ pod: critical, active, node });
      const result = computePreemption(critical, active, shortages);
      const covers = (victims: readonly DesiredPod[]): boolean =>
        shortages.every(
          (shortage) =>
            victims.reduce((sum, { spec }) => sum + requestOf({ spec }, shortage.resource), 0n) >= missingOf(shortage),
        );
      const mayGo = active.filter(({ source, spec: { priority = 0 } }) => source === 'api' && priority < 2_000_000_000);
      if (!('victims' in result)) {
        assert.equal(covers(mayGo), false, 'there were victims enough');
        return;
      }
      const victims = active.filter(({ uid }) => result.victims.includes(uid));
      assert.equal(victims.length, result.victims.length);
      assert.ok(covers(victims), 'enough is freed');
      assert.ok(victims.every((victim) => mayGo.includes(victim)));
      // Even if all of the classes below went as well, each victim is needed: so none is superfluous, and none goes for
      // want of a less important pod.
      for (const victim of victims) {
        const rank = classOrder.indexOf(podQos(victim));
        const lower = mayGo.filter((candidate) => classOrder.indexOf(podQos(candidate)) < rank);
        const others = new Set([...victims.filter((other) => other !== victim), ...lower]);
        assert.equal(covers([...others]), false, `${victim.uid} goes in vain`);
      }
    }),
    { numRuns: 400 },
  );
});

test('after the end of the victims the pod fits', () => {
  fc.assert(
    fc.property(fc.oneof(input, crowded), (asked) => {
      const result = admitByRules(chain, asked);
      fc.pre(result.admit === 'afterPreempting');
      const active = asked.active.filter(
        ({ uid }) => result.admit === 'afterPreempting' && !result.victims.includes(uid),
      );
      assert.deepEqual(admitByRules(chain, { ...asked, active }), { admit: true });
    }),
  );
});
