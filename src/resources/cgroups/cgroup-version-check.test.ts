import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from '../../telemetry/index.ts';
import { CgroupVersionCheck, versionProblem, type CgroupVersionSettings } from './cgroup-version-check.ts';

const settings: CgroupVersionSettings = {
  cgroupVersion: 1,
  failCgroupV1: false,
  singleProcessOomKill: undefined,
  swapBehavior: '',
};

test('version 1 cannot do what some settings ask for', () => {
  const cases: readonly (readonly [Partial<CgroupVersionSettings>, RegExp | undefined])[] = [
    [{}, undefined],
    [{ failCgroupV1: true }, /^kubelet is configured to not run on a host using cgroup v1\. /],
    [{ singleProcessOomKill: true }, undefined],
    [{ singleProcessOomKill: false }, /singleProcessOOMKill must not be explicitly set to false when using cgroup v1$/],
    [{ swapBehavior: 'NoSwap' }, undefined],
    [
      { swapBehavior: 'LimitedSwap' },
      /^swap feature is enabled and LimitedSwap but it is only supported with cgroupv2$/,
    ],
  ];
  for (const [more, expected] of cases) {
    const problem = versionProblem({ ...settings, ...more });
    if (expected === undefined) assert.equal(problem, undefined);
    else assert.match(problem ?? '', expected);
    assert.equal(versionProblem({ ...settings, ...more, cgroupVersion: 2 }), undefined);
  }
});

test('the version is measured, whether the agent starts or not', async () => {
  for (const [cgroupVersion, isRefused] of [
    [1, true],
    [2, false],
  ] as const) {
    const metrics = new Registry();
    const check = new CgroupVersionCheck({ metrics, settings: { ...settings, cgroupVersion, failCgroupV1: true } });
    if (isRefused) await assert.rejects(check.start(), { kind: 'unsupported' });
    else await check.start();
    assert.match(metrics.render(), new RegExp(`^kubelet_cgroup_version ${cgroupVersion}$`, 'm'));
  }
});
