import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus, PodSpec } from '../../gen/kubernetes/types.ts';
import { computePhase, type PhaseInput } from './compute-phase.ts';

type Shape = 'waiting' | 'running' | 'starting' | 'done' | 'failed' | 'backOff' | 'none';

const shapes: Readonly<Record<Exclude<Shape, 'none'>, Omit<ContainerStatus, 'name'>>> = (() => {
  const base = { ready: false, restartCount: 0, image: 'i', imageID: '' };
  return {
    waiting: { ...base, state: { waiting: { reason: 'ContainerCreating' } } },
    running: { ...base, started: true, state: { running: {} } },
    starting: { ...base, started: false, state: { running: {} } },
    done: { ...base, state: { terminated: { exitCode: 0 } } },
    failed: { ...base, state: { terminated: { exitCode: 1 } } },
    backOff: { ...base, state: { waiting: {} }, lastState: { terminated: { exitCode: 1 } } },
  };
})();

/** Names tell the role: i… init, s… sidecar, c… regular. */
function phase(containers: Readonly<Record<string, Shape>>, changes: Partial<PhaseInput> & { policy?: string } = {}) {
  const names = Object.keys(containers);
  const spec: PodSpec = {
    restartPolicy: changes.policy ?? 'Always',
    initContainers: names
      .filter((name) => !name.startsWith('c'))
      .map((name) => ({ name, ...(name.startsWith('s') && { restartPolicy: 'Always' }) })),
    containers: names.filter((name) => name.startsWith('c')).map((name) => ({ name })),
  };
  const statuses = Object.entries(containers).flatMap(([name, shape]) =>
    shape === 'none' ? [] : [{ name, ...shapes[shape] }],
  );
  return computePhase({ spec, statuses, terminal: false, isStatic: false, ...changes });
}

const ended = { terminal: true };
const cases: readonly (readonly [Parameters<typeof phase>[0], Parameters<typeof phase>[1], string])[] = [
  [{ c: 'none' }, {}, 'Pending'],
  [{ c: 'waiting' }, {}, 'Pending'],
  [{ c: 'running' }, {}, 'Running'],
  [{ c1: 'running', c2: 'waiting' }, {}, 'Pending'],
  [{ c1: 'running', c2: 'none' }, {}, 'Pending'],
  [{ c1: 'running', c2: 'failed' }, { policy: 'Never' }, 'Running'],
  [{ c: 'backOff' }, {}, 'Running'],
  [{ c: 'backOff' }, { policy: 'OnFailure' }, 'Running'],
  [{ c: 'done' }, {}, 'Running'],
  [{ c: 'done' }, { policy: 'OnFailure' }, 'Succeeded'],
  [{ c: 'done' }, { policy: 'Never' }, 'Succeeded'],
  [{ c: 'failed' }, { policy: 'OnFailure' }, 'Running'],
  [{ c: 'failed' }, { policy: 'Never' }, 'Failed'],
  [{ c1: 'done', c2: 'failed' }, { policy: 'Never' }, 'Failed'],
  [{ c: 'done' }, ended, 'Succeeded'],
  [{ c: 'failed' }, ended, 'Failed'],
  [{ c: 'failed' }, { ...ended, isStatic: true }, 'Running'],
  [{ c: 'waiting' }, ended, 'Pending'],
  [{ i: 'running', c: 'waiting' }, {}, 'Pending'],
  [{ i: 'none', c: 'running' }, {}, 'Pending'],
  [{ i: 'failed', c: 'waiting' }, { policy: 'Never' }, 'Failed'],
  [{ i: 'failed', c: 'waiting' }, { policy: 'OnFailure' }, 'Pending'],
  [{ i: 'backOff', c: 'waiting' }, {}, 'Pending'],
  [{ i: 'done', c: 'running' }, {}, 'Running'],
  [{ s: 'starting', c: 'waiting' }, {}, 'Pending'],
  [{ s: 'starting', c: 'running' }, {}, 'Running'],
  [{ s: 'waiting', c: 'running' }, {}, 'Pending'],
  [{ s: 'backOff', c: 'running' }, {}, 'Running'],
  [{ s: 'running', c: 'done' }, { policy: 'Never' }, 'Running'],
  [{ s: 'failed', c: 'done' }, { policy: 'Never' }, 'Succeeded'],
  [{ s: 'done', c: 'failed' }, { policy: 'Never' }, 'Failed'],
];

for (const [containers, changes, expected] of cases) {
  test(`phase of ${JSON.stringify(containers)} ${JSON.stringify(changes)}`, () => {
    assert.equal(phase(containers, changes), expected);
  });
}
