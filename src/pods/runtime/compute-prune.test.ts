import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sandboxId } from '../../base/ids.ts';
import type { ObservedContainer, ObservedSandbox } from '../../model/observed-pod.ts';
import { anInstance, aSandbox, exited, observedPod } from '../../testing/pods.ts';
import { computePrune } from './compute-prune.ts';

/** An instance of `main` by attempt; the higher the newer. */
const main = (attempt: number, more: Partial<ObservedContainer> = {}) =>
  anInstance('main', { attempt, ...(more as Partial<Omit<ObservedContainer, 'id'>>) });
const dead = (attempt: number, sandbox = 's0') => main(attempt, { ...exited(1), sandboxId: sandboxId(sandbox) });
const lost = (id: string, attempt: number) => aSandbox(id, { attempt, state: 'notReady' });

type Case = readonly [readonly ObservedSandbox[], readonly ObservedContainer[], string];

const cases: Readonly<Record<string, Case>> = {
  'nothing there': [[], [], ''],
  'one that runs': [[aSandbox('s0')], [main(0)], ''],
  'the last dead one stays, for its logs': [[aSandbox('s0')], [dead(0)], ''],
  'the last dead one stays beside the one that runs': [[aSandbox('s0')], [main(1), dead(0)], ''],
  'older dead ones go': [[aSandbox('s0')], [main(3), dead(2), dead(1), dead(0)], 'main-1, main-0'],
  'each container for itself': [[aSandbox('s0')], [dead(0), anInstance('side', exited(0))], ''],
  'made but never started, and the newest: it may still start': [[aSandbox('s0')], [main(0, { state: 'created' })], ''],
  'made but never started, with a successor': [[aSandbox('s0')], [main(1), main(0, { state: 'created' })], 'main-0'],
  'a dead one before one that was made stays': [[aSandbox('s0')], [main(1, { state: 'created' }), dead(0)], ''],
  'what the runtime lost track of is not ours to remove': [
    [aSandbox('s0')],
    [main(2), main(1, { state: 'unknown' }), dead(0)],
    '',
  ],
  'the only sandbox stays, ready or not': [[lost('s0', 0)], [], ''],
  'an older sandbox goes when it is empty': [[aSandbox('s1', { attempt: 1 }), lost('s0', 0)], [], 's0'],
  'an older sandbox stays with a dead container that stays': [
    [aSandbox('s1', { attempt: 1 }), lost('s0', 0)],
    [main(1, { sandboxId: sandboxId('s1') }), dead(0)],
    '',
  ],
  'and goes with it': [
    [aSandbox('s2', { attempt: 2 }), lost('s1', 1), lost('s0', 0)],
    [main(2, { sandboxId: sandboxId('s2') }), dead(1, 's1'), dead(0, 's0')],
    'main-0, s0',
  ],
  'an older sandbox that is ready must be stopped first': [[aSandbox('s1', { attempt: 1 }), aSandbox('s0')], [], ''],
};

for (const [name, [sandboxes, containers, expected]] of Object.entries(cases)) {
  test(`prune: ${name}`, () => {
    const prune = computePrune(observedPod(sandboxes, containers));
    assert.equal([...prune.containers, ...prune.sandboxes].join(', '), expected);
  });
}
