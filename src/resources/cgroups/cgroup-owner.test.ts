import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cgroupOwner, type CgroupOwner } from './cgroup-owner.ts';

test('what makes the cgroups of pods', () => {
  const rows: readonly (readonly [boolean, 'cgroupfs' | 'systemd', CgroupOwner])[] = [
    [true, 'cgroupfs', 'agent'],
    [true, 'systemd', 'runtime'],
    [false, 'cgroupfs', 'none'],
    [false, 'systemd', 'none'],
  ];
  for (const [cgroupsPerQos, cgroupDriver, owner] of rows) {
    assert.equal(cgroupOwner({ cgroupsPerQos, cgroupDriver }), owner, `${cgroupsPerQos} ${cgroupDriver}`);
  }
});
