import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodSpec, PodStatus, ResourceRequirements } from '../../gen/kubernetes/types.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { aContainer, aPod, type PodOptions } from '../../testing/pods.ts';
import { Allocations } from './allocations.ts';

const small = { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '500m', memory: '128Mi' } };
const large = { requests: { cpu: '1', memory: '64Mi' }, limits: { cpu: '2', memory: '256Mi' } };

function asking(resources: ResourceRequirements, generation = 1, more: PodOptions = {}): DesiredPod {
  const spec: Partial<PodSpec> = { containers: [aContainer('main', { resources })], ...more.spec };
  return aPod({ source: 'api', ...more, metadata: { generation }, spec });
}

const of = ({ spec }: DesiredPod): readonly (ResourceRequirements | undefined)[] =>
  [...(spec.initContainers ?? []), ...spec.containers].map(({ resources }) => resources);

describe('a pod whose resources are changed', () => {
  test('keeps what it was admitted with, and the resize is infeasible', () => {
    const log = new MemoryLog();
    const allocations = new Allocations(log);
    const first = asking(small);
    assert.equal(allocations.allocate(first), first);
    assert.equal(allocations.refusal(first.uid), undefined);
    const changed = allocations.allocate(asking(large, 2));
    assert.deepEqual(of(changed), [small]);
    assert.equal(changed.metadata.generation, 2);
    assert.deepEqual(allocations.refusal(first.uid), {
      reason: 'Infeasible',
      message: 'In-place pod resize is not supported on this node',
      generation: 2,
    });
    allocations.allocate(asking(large, 2));
    assert.deepEqual(log.messages('info'), ['Pod resize is not carried out']);
  });

  test('and changed back is as it was', () => {
    const allocations = new Allocations(new MemoryLog());
    allocations.allocate(asking(small));
    allocations.allocate(asking(large, 2));
    const back = asking({ requests: { cpu: '0.1', memory: '64Mi' }, limits: { cpu: '0.5', memory: '131072Ki' } }, 3);
    assert.equal(allocations.allocate(back), back);
    assert.equal(allocations.refusal(back.uid), undefined);
  });

  test('sidecars are held, init containers and other changes are taken', () => {
    const allocations = new Allocations(new MemoryLog());
    const both = (resources: ResourceRequirements, image: string): PodOptions => ({
      spec: {
        initContainers: [
          aContainer('side', { resources, restartPolicy: 'Always' }),
          aContainer('plain', { resources }),
        ],
        containers: [aContainer('main', { image, resources: small })],
      },
    });
    allocations.allocate(asking({}, 1, both(small, 'one')));
    const changed = allocations.allocate(asking({}, 2, both(large, 'two')));
    assert.deepEqual(of(changed), [small, large, small]);
    assert.equal(changed.spec.containers[0]?.image, 'two');
  });

  test('the resize of a static one is infeasible, logged once', () => {
    const log = new MemoryLog();
    const allocations = new Allocations(log);
    allocations.allocate(asking(small, 1, { source: 'file' }));
    for (let n = 0; n < 3; n++) allocations.allocate(asking(large, 1, { source: 'file' }));
    const { uid } = aPod();
    assert.equal(allocations.refusal(uid)?.message, 'In-place resize of static-pods is not supported');
    assert.equal(log.messages('info').length, 1);
  });

  test('a pod that is removed and comes back is allocated anew', () => {
    const allocations = new Allocations(new MemoryLog());
    const [first, second] = [asking(small), asking(large, 2)];
    allocations.update({ op: 'add', source: 'api', pods: [first] });
    allocations.update({ op: 'remove', source: 'api', pods: [first] });
    const update = allocations.update({ op: 'add', source: 'api', pods: [second] });
    assert.equal(update.pods[0], second);
  });
});

describe('a pod of an earlier life', () => {
  const reported = (
    allocatedResources: Record<string, string>,
    conditions: PodStatus['conditions'] = [],
  ): PodOptions => ({
    status: {
      phase: 'Running',
      conditions,
      containerStatuses: [
        { name: 'main', image: 'i', imageID: '', ready: true, restartCount: 0, allocatedResources, resources: small },
      ],
    },
  });
  const pending = [{ type: 'PodResizePending', status: 'True' }];

  test('has what its status says was allocated, where it asks for something else', () => {
    const allocations = new Allocations(new MemoryLog());
    assert.deepEqual(of(allocations.allocate(asking(large, 2, reported(small.requests)))), [small]);
    assert.equal(allocations.refusal(aPod().uid)?.generation, 2);
  });

  test('also where only limits differ, by the condition', () => {
    const limits = { ...small, limits: large.limits };
    const allocations = new Allocations(new MemoryLog());
    assert.deepEqual(of(allocations.allocate(asking(limits, 2, reported(small.requests, pending)))), [small]);
    const other = new Allocations(new MemoryLog());
    assert.deepEqual(
      of(other.allocate(asking(limits, 2, reported(small.requests)))),
      [limits],
      'rounding of limits is no change',
    );
  });

  test('keeps other resources as the spec has them', () => {
    const disk = { requests: { ...large.requests, 'ephemeral-storage': '1Gi' } };
    const [resources] = of(new Allocations(new MemoryLog()).allocate(asking(disk, 2, reported(small.requests))));
    assert.deepEqual(resources?.requests, { 'ephemeral-storage': '1Gi', ...small.requests });
  });

  test('without a status has what its spec says', () => {
    const pod = asking(large, 2);
    assert.equal(new Allocations(new MemoryLog()).allocate(pod), pod);
  });
});
