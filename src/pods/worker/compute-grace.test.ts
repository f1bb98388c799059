import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '../../testing/pods.ts';
import { computeGrace } from './compute-grace.ts';

interface Case {
  /** `spec.terminationGracePeriodSeconds`. */
  readonly spec?: number;
  /** `metadata.deletionGracePeriodSeconds`. */
  readonly deletion?: number;
  readonly current?: number;
  readonly override?: number;
}

function grace({ spec, deletion, current, override }: Case): number {
  const made = aPod({ metadata: { ...(deletion !== undefined && { deletionGracePeriodSeconds: deletion }) } });
  const { terminationGracePeriodSeconds: _, ...rest } = made.spec;
  const pod = { ...made, spec: { ...rest, ...(spec !== undefined && { terminationGracePeriodSeconds: spec }) } };
  return computeGrace({
    pod,
    ...(current !== undefined && { current }),
    ...(override !== undefined && { override }),
  });
}

const cases: Readonly<Record<string, readonly [Case, number]>> = {
  'the spec, when nothing else is given': [{ spec: 30 }, 30],
  'one second without any word': [{}, 1],
  'one second at least, by the spec': [{ spec: 0 }, 1],
  'one second at least, by deletion': [{ spec: 30, deletion: 0 }, 1],
  'one second at least, by override': [{ spec: 30, override: 0 }, 1],
  'deletion shortens the spec': [{ spec: 30, deletion: 5 }, 5],
  'deletion speaks instead of the spec, also when it is longer': [{ spec: 30, deletion: 120 }, 120],
  'an override speaks instead of the spec': [{ spec: 30, override: 60 }, 60],
  'an override can only shorten a deletion': [{ spec: 30, deletion: 5, override: 60 }, 5],
  'a deletion can only shorten an override': [{ spec: 30, deletion: 60, override: 5 }, 5],
  'nothing makes it longer than what is settled': [{ spec: 300, deletion: 200, current: 10, override: 100 }, 10],
  'each can make it shorter than what is settled': [{ spec: 300, deletion: 8, current: 10, override: 9 }, 8],
  'negative counts as one': [{ spec: -1 }, 1],
};

for (const [name, [given, expected]] of Object.entries(cases)) {
  test(`grace: ${name}`, () => assert.equal(grace(given), expected));
}
