import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObservedSandbox } from '../../model/observed-pod.ts';
import { aSandbox } from '../../testing/pods.ts';
import { computeSandboxWait } from './compute-sandbox-wait.ts';

const made = (attempt: number, createdAt: number): ObservedSandbox => aSandbox(`s${attempt}`, { attempt, createdAt });

const table: readonly (readonly [what: string, sandboxes: readonly ObservedSandbox[], waitMs: number | undefined])[] = [
  ['the first one is made at once', [], undefined],
  ['so is the second', [made(0, 9_990)], undefined],
  ['a third waits until the second is a second old', [made(1, 9_990), made(0, 9_000)], 990],
  ['made just now', [made(1, 10_000)], 1_000],
  ['old enough', [made(1, 9_000)], undefined],
  ['long ago', [made(7, 1)], undefined],
  ['in the future: the clock was set back, which must not delay it', [made(7, 10_001)], undefined],
];
for (const [what, sandboxes, waitMs] of table)
  test(`the next sandbox: ${what}`, () => assert.equal(computeSandboxWait({ sandboxes }, 10_000), waitMs));
