import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from '../../telemetry/index.ts';
import { CgroupVersionCheck } from './cgroup-version-check.ts';

test('version 1 is refused where that is configured, and the version is measured either way', async () => {
  const rows: readonly (readonly [1 | 2, boolean, boolean])[] = [
    [1, false, false],
    [1, true, true],
    [2, true, false],
    [2, false, false],
  ];
  for (const [version, failCgroupV1, isRefused] of rows) {
    const metrics = new Registry();
    const start = new CgroupVersionCheck({ metrics, version, failCgroupV1 }).start();
    if (isRefused) await assert.rejects(start, /failCgroupV1 is true/);
    else await start;
    assert.match(metrics.render(), new RegExp(`^kubelet_cgroup_version ${version}$`, 'm'));
  }
});
