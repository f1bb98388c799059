import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../base/ids.ts';
import { computeLeftovers } from './compute-leftovers.ts';

interface Case {
  readonly sourcesReady?: boolean;
  readonly desired?: readonly string[];
  /** Uid → whether its worker is over. */
  readonly workers?: Readonly<Record<string, boolean>>;
  readonly inRuntime?: readonly string[];
  readonly onDisk?: readonly string[];
  readonly remembered?: readonly string[];
}

/** Leftovers in short: what kind, whose. */
function leftovers(given: Case): string {
  const { orphans, remains, orphanedDirectories, onlyRemembered } = computeLeftovers({
    sourcesReady: given.sourcesReady ?? true,
    isDesired: (uid) => given.desired?.includes(uid) ?? false,
    workers: Object.entries(given.workers ?? {}).map(([uid, canBeRemoved]) => ({ uid: podUid(uid), canBeRemoved })),
    inRuntime: (given.inRuntime ?? []).map((uid) => ({ uid: podUid(uid), name: `of-${uid}`, namespace: 'default' })),
    onDisk: (given.onDisk ?? []).map(podUid),
    remembered: (given.remembered ?? []).map(podUid),
  });
  return [
    ...orphans.map(({ uid, name, namespace }) => `orphan ${uid} ${namespace}/${name}`),
    ...remains.map((uid) => `remains ${uid}`),
    ...orphanedDirectories.map((uid) => `files ${uid}`),
    ...onlyRemembered.map((uid) => `memory ${uid}`),
  ].join(', ');
}

const cases: Readonly<Record<string, readonly [Case, string]>> = {
  nothing: [{}, ''],
  'a pod that runs as it should': [{ desired: ['a'], workers: { a: false }, inRuntime: ['a'], onDisk: ['a'] }, ''],
  'in the runtime, without a source and a worker': [{ inRuntime: ['a'], onDisk: ['a'] }, 'orphan a default/of-a'],
  'in the runtime, wanted, worker not there yet': [{ desired: ['a'], inRuntime: ['a'], onDisk: ['a'] }, ''],
  'an orphan that is being stopped': [{ workers: { a: false }, inRuntime: ['a'], onDisk: ['a'] }, ''],
  'an orphan that is stopped': [{ workers: { a: true }, inRuntime: ['a'], onDisk: ['a'] }, 'remains a'],
  'finished, and nowhere but with its worker': [{ workers: { a: true } }, 'remains a'],
  'over, and wanted again: its new life waits for this': [
    { desired: ['a'], workers: { a: true }, inRuntime: ['a'], onDisk: ['a'] },
    'remains a',
  ],
  'dropped by its source, worker busy': [{ workers: { a: false }, inRuntime: ['a'], onDisk: ['a'] }, ''],
  'files that nothing else knows of': [{ onDisk: ['a'] }, 'files a'],
  'remembered, and nowhere else': [{ remembered: ['a'] }, 'memory a'],
  'remembered and wanted': [{ desired: ['a'], remembered: ['a'] }, ''],
  'remembered and still there': [
    { workers: { a: false }, inRuntime: ['b'], onDisk: ['c'], remembered: ['a', 'b', 'c'] },
    'orphan b default/of-b, files c',
  ],
  'files of a wanted pod without a worker': [{ desired: ['a'], onDisk: ['a'] }, ''],
  'files of a pod in the runtime wait for it': [{ inRuntime: ['a'], onDisk: ['a'] }, 'orphan a default/of-a'],
  'before the sources are ready nothing is left over': [
    { sourcesReady: false, workers: { b: true }, inRuntime: ['a'], onDisk: ['c'] },
    '',
  ],
  'each for itself': [
    {
      desired: ['ok'],
      workers: { ok: false, over: true, busy: false },
      inRuntime: ['ok', 'over', 'busy', 'alien'],
      onDisk: ['ok', 'over', 'busy', 'stray'],
    },
    'orphan alien default/of-alien, remains over, files stray',
  ],
};

for (const [name, [given, expected]] of Object.entries(cases)) {
  test(`leftovers: ${name}`, () => assert.equal(leftovers(given), expected));
}
