import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { computeRotation, type RotationInput, type RotationStep } from './compute-rotation.ts';
import { localStamp, rotatedName, stampAfter } from './rotated-name.ts';

const base: RotationInput = {
  log: '0.log',
  size: 100,
  files: ['0.log'],
  limits: { maxSize: 100, maxFiles: 5 },
  nowStamp: '20260102-030405',
};

/** Steps in short: `- name`, `> name`, `reopen`, `gz name`. */
function shown(steps: readonly RotationStep[]): readonly string[] {
  return steps.map((step) => {
    switch (step.kind) {
      case 'remove':
        return `- ${step.name}`;
      case 'rename':
        return `> ${step.to}`;
      case 'reopen':
        return step.renamed === undefined ? 'reopen' : `reopen or ${step.renamed}`;
      case 'compress':
        return `gz ${step.name}`;
      default:
        return assert.fail('no such step');
    }
  });
}

const plan = (more: Partial<RotationInput>): readonly string[] => shown(computeRotation({ ...base, ...more }));
const now = ['> 0.log.20260102-030405', 'reopen or 0.log.20260102-030405'];

describe('a log', () => {
  test('below its limit is left alone, also with leftovers beside it', () => {
    assert.deepEqual(plan({ size: 99, files: ['0.log', '0.log.20260101-000000.tmp'] }), []);
    assert.deepEqual(plan({ size: 0 }), []);
  });

  test('at or above its limit is rotated', () => {
    assert.deepEqual(plan({ size: 100 }), now);
    assert.deepEqual(plan({ size: 5_000 }), now);
  });

  test('that is missing is reopened', () => {
    assert.deepEqual(plan({ size: undefined, files: ['0.log.20260101-000000'] }), ['reopen']);
  });
});

describe('older files', () => {
  test('are compressed after the container has its new file, those that are not yet', () => {
    const files = ['0.log', '0.log.20260101-000001', '0.log.20260101-000000.gz'];
    assert.deepEqual(plan({ files }), [...now, 'gz 0.log.20260101-000001']);
  });

  test('are removed first when there are too many, the oldest', () => {
    const files = ['0.log', ...[1, 2, 3, 4].map((day) => `0.log.2026010${day}-000000.gz`)];
    assert.deepEqual(plan({ files, nowStamp: '20260109-000000' }), [
      '- 0.log.20260101-000000.gz',
      '> 0.log.20260109-000000',
      'reopen or 0.log.20260109-000000',
    ]);
  });

  test('all go when only two files are allowed', () => {
    const files = ['0.log', '0.log.20260101-000000', '0.log.20260101-000001.gz'];
    assert.deepEqual(plan({ files, limits: { maxSize: 100, maxFiles: 2 } }), [
      '- 0.log.20260101-000001.gz',
      '- 0.log.20260101-000000',
      ...now,
    ]);
  });

  test('whose compression was broken off lose what was begun, and those that were finished the source', () => {
    const files = ['0.log', '0.log.20260101-000002', '0.log.20260101-000002.tmp', '0.log.20260101-000001'];
    assert.deepEqual(plan({ files: [...files, '0.log.20260101-000001.gz'] }), [
      '- 0.log.20260101-000002.tmp',
      '- 0.log.20260101-000001',
      ...now,
      'gz 0.log.20260101-000002',
    ]);
  });

  test('of other logs and of other programs are not touched', () => {
    const files = [
      '0.log',
      '10.log.20260101-000000',
      '0.log.old',
      '0.log.20260101-000000.gz.tmp',
      '0.log.99999999-999999',
    ];
    assert.deepEqual(plan({ files, limits: { maxSize: 100, maxFiles: 2 } }), now);
  });
});

describe('the new name', () => {
  test('is the next second where a file has this one', () => {
    const [first] = plan({ files: ['0.log', '0.log.20260102-030405'] });
    assert.equal(first, '> 0.log.20260102-030406');
    assert.equal(plan({ files: ['0.log', '0.log.20260102-030405.gz'] })[0], first);
  });

  test('comes after the newest file, also when the clock was set back', () => {
    assert.equal(plan({ files: ['0.log', '0.log.20261231-235959.gz'] })[0], '> 0.log.20270101-000000');
  });
});

describe('stamps', () => {
  test('follow the local clock', () => {
    assert.equal(localStamp(new Date(2026, 0, 2, 3, 4, 5).getTime()), '20260102-030405');
  });

  test('follow the calendar', () => {
    assert.equal(stampAfter('20240228-235959', 1), '20240229-000000');
    assert.equal(stampAfter('20260228-235959', 1), '20260301-000000');
    assert.equal(stampAfter('yesterday', 1), undefined);
  });

  test('differ from other endings', () => {
    assert.equal(rotatedName('0.log', '0.log'), undefined);
    assert.equal(rotatedName('0.log', '0.log.20260102-030405')?.kind, 'plain');
    assert.equal(rotatedName('0.log', '0.log.20260102-030405.gz')?.kind, 'compressed');
    assert.equal(rotatedName('0.log', '0.log.20260102-030405.tmp')?.kind, 'unfinished');
    assert.equal(rotatedName('0.log', '0.log.20261302-030405'), undefined);
  });
});
