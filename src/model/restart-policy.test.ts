import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { computeRestart, restartPolicyOf } from './restart-policy.ts';

describe('whether a container restarts', () => {
  const rules = [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }];
  const cases: readonly (readonly [string, Parameters<typeof computeRestart>[0], boolean])[] = [
    ['Always', { container: {}, podPolicy: 'Always', ended: { exitCode: 0 }, ownRules: false }, true],
    ['OnFailure, well', { container: {}, podPolicy: 'OnFailure', ended: { exitCode: 0 }, ownRules: false }, false],
    ['OnFailure, badly', { container: {}, podPolicy: 'OnFailure', ended: { exitCode: 1 }, ownRules: false }, true],
    ['Never', { container: {}, podPolicy: 'Never', ended: { exitCode: 1 }, ownRules: false }, false],
    [
      'own policy',
      { container: { restartPolicy: 'Never' }, podPolicy: 'Always', ended: { exitCode: 1 }, ownRules: true },
      false,
    ],
    [
      'own policy without the gate',
      { container: { restartPolicy: 'Never' }, podPolicy: 'Always', ended: { exitCode: 1 }, ownRules: false },
      true,
    ],
    [
      'rule that applies',
      {
        container: { restartPolicy: 'Never', restartPolicyRules: rules },
        podPolicy: 'Never',
        ended: { exitCode: 42 },
        ownRules: true,
      },
      true,
    ],
    [
      'rule that does not',
      {
        container: { restartPolicy: 'Never', restartPolicyRules: rules },
        podPolicy: 'Always',
        ended: { exitCode: 1 },
        ownRules: true,
      },
      false,
    ],
    [
      'NotIn',
      {
        container: {
          restartPolicy: 'Never',
          restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'NotIn', values: [0] } }],
        },
        podPolicy: 'Never',
        ended: { exitCode: 1 },
        ownRules: true,
      },
      true,
    ],
  ];
  for (const [what, input, expected] of cases) test(what, () => assert.equal(computeRestart(input), expected));
});

test("the policy that holds is the container's own where it may have one", () => {
  const container = { restartPolicy: 'OnFailure' };
  assert.equal(restartPolicyOf({ container, podPolicy: 'Never', ownRules: true }), 'OnFailure');
  assert.equal(restartPolicyOf({ container, podPolicy: 'Never', ownRules: false }), 'Never');
  assert.equal(restartPolicyOf({ container: {}, podPolicy: undefined, ownRules: true }), 'Always');
});
