import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus, PodSpec } from '../../gen/kubernetes/types.ts';
import { computePhase, type PhaseInput } from './compute-phase.ts';

type Shape = 'waiting' | 'running' | 'starting' | 'done' | 'failed' | 'backOff' | 'backAfterDone' | 'none';

const shapes: Readonly<Record<Exclude<Shape, 'none'>, Omit<ContainerStatus, 'name'>>> = (() => {
  const base = { ready: false, restartCount: 0, image: 'i', imageID: '' };
  return {
    waiting: { ...base, state: { waiting: { reason: 'ContainerCreating' } } },
    running: { ...base, started: true, state: { running: {} } },
    starting: { ...base, started: false, state: { running: {} } },
    done: { ...base, state: { terminated: { exitCode: 0 } } },
    failed: { ...base, state: { terminated: { exitCode: 1 } } },
    backOff: { ...base, state: { waiting: {} }, lastState: { terminated: { exitCode: 1 } } },
    backAfterDone: { ...base, state: { waiting: {} }, lastState: { terminated: { exitCode: 0 } } },
  };
})();

interface Changes extends Partial<PhaseInput> {
  readonly policy?: string;
  /** The own policy of each container that is no sidecar. */
  readonly own?: string;
}

/** Names show the role: i… init, s… sidecar, c… regular. */
function phase(containers: Readonly<Record<string, Shape>>, { policy, own, ...changes }: Changes = {}) {
  const ofItsOwn = own === undefined ? {} : { restartPolicy: own };
  const names = Object.keys(containers);
  const spec: PodSpec = {
    restartPolicy: policy ?? 'Always',
    initContainers: names
      .filter((name) => !name.startsWith('c'))
      .map((name) => ({ name, ...(name.startsWith('s') ? { restartPolicy: 'Always' } : ofItsOwn) })),
    containers: names.filter((name) => name.startsWith('c')).map((name) => ({ name, ...ofItsOwn })),
  };
  const statuses = Object.entries(containers).flatMap(([name, shape]) =>
    shape === 'none' ? [] : [{ name, ...shapes[shape] }],
  );
  const state = { terminal: false, isStatic: false, initialized: false, ownRestartRules: false };
  return computePhase({ spec, statuses, ...state, ...changes });
}

const ended = { terminal: true };
const rules = { ownRestartRules: true };
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
  [{ s: 'starting', c: 'running' }, { initialized: true }, 'Running'],
  [{ s: 'starting', c: 'backOff' }, { initialized: true }, 'Running'],
  // In a new sandbox the regular containers wait for their sidecars again.
  [{ s: 'starting', c: 'backOff' }, { initialized: false }, 'Pending'],
  [{ s: 'waiting', c: 'running' }, {}, 'Pending'],
  [{ s: 'backOff', c: 'running' }, {}, 'Running'],
  [{ s: 'running', c: 'done' }, { policy: 'Never' }, 'Running'],
  [{ s: 'failed', c: 'done' }, { policy: 'Never' }, 'Succeeded'],
  [{ s: 'done', c: 'failed' }, { policy: 'Never' }, 'Failed'],
  [{ c: 'backAfterDone' }, { policy: 'OnFailure' }, 'Running'],
  [{ c: 'failed' }, { policy: 'Never', own: 'Always', ...rules }, 'Running'],
  [{ c: 'failed' }, { policy: 'Never', own: 'Always' }, 'Failed'],
  [{ c: 'failed' }, { policy: 'Always', own: 'Never', ...rules }, 'Failed'],
  [{ c: 'done' }, { policy: 'Always', own: 'Never', ...rules }, 'Succeeded'],
  [{ c: 'done' }, { policy: 'Always', own: 'OnFailure', ...rules }, 'Succeeded'],
  [{ c: 'backOff' }, { policy: 'Never', own: 'OnFailure', ...rules }, 'Running'],
  [{ c: 'failed' }, { policy: 'Never', own: 'Always', ...rules, ...ended }, 'Failed'],
  [{ i: 'failed', c: 'waiting' }, { policy: 'Never', own: 'OnFailure', ...rules }, 'Pending'],
  [{ i: 'failed', c: 'waiting' }, { policy: 'Always', own: 'Never', ...rules }, 'Failed'],
];

for (const [containers, changes, expected] of cases) {
  test(`phase of ${JSON.stringify(containers)} ${JSON.stringify(changes)}`, () => {
    assert.equal(phase(containers, changes), expected);
  });
}
