import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podUid } from '../../base/ids.ts';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import { ReportedLives } from './reported-lives.ts';

const uid = podUid('u1');

describe('ReportedLives', () => {
  const cases: readonly [
    string,
    { readonly phase?: string; readonly isNamedAgain: boolean },
    { readonly reports: boolean; readonly isBetweenLives: boolean; readonly hasNotEnded: boolean },
  ][] = [
    ['runs', { phase: 'Running', isNamedAgain: false }, { reports: true, isBetweenLives: false, hasNotEnded: true }],
    ['ended', { phase: 'Failed', isNamedAgain: false }, { reports: true, isBetweenLives: false, hasNotEnded: false }],
    [
      'ends, and is named again',
      { phase: 'Running', isNamedAgain: true },
      { reports: true, isBetweenLives: false, hasNotEnded: true },
    ],
    [
      'ended, and is named again',
      { phase: 'Succeeded', isNamedAgain: true },
      { reports: false, isBetweenLives: true, hasNotEnded: true },
    ],
    ['no status yet', { isNamedAgain: false }, { reports: false, isBetweenLives: false, hasNotEnded: false }],
    ['no status, named again', { isNamedAgain: true }, { reports: false, isBetweenLives: false, hasNotEnded: false }],
  ];
  for (const [name, { phase, isNamedAgain }, expected] of cases) {
    test(name, () => {
      const status: PodStatus | undefined = phase === undefined ? undefined : { phase };
      const lives = new ReportedLives({
        statuses: { get: () => status },
        lifecycles: { isNamedAgain: () => isNamedAgain },
      });
      assert.equal(lives.statusOf(uid), expected.reports ? status : undefined);
      assert.equal(lives.isBetweenLives(uid), expected.isBetweenLives);
      assert.equal(lives.hasNotEnded(uid), expected.hasNotEnded);
    });
  }
});
