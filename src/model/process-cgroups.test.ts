import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { accountedCgroup, processCgroupsIn } from './process-cgroups.ts';

describe('where a process is', () => {
  test('by controller, in trees of both versions', () => {
    const paths = processCgroupsIn('9:name=systemd:/\n4:cpu,cpuacct:/a:b/c\n3:memory:/m\n0::/u\nno line\n5:pids\n');
    assert.deepEqual(
      [...paths],
      [
        ['name=systemd', '/'],
        ['cpu', '/a:b/c'],
        ['cpuacct', '/a:b/c'],
        ['memory', '/m'],
        ['', '/u'],
      ],
    );
  });

  const cases: Readonly<Record<string, readonly [text: string, version: 1 | 2, expected: string]>> = {
    'version 2': ['0::/system.slice/kubelet.service', 2, '/system.slice/kubelet.service'],
    'version 2, not there': ['1:cpu:/a', 2, 'the process is in no cgroup of version 2'],
    'version 1, cpu and memory together': ['1:cpu:/a\n2:memory:/a', 1, '/a'],
    'version 1, with systemd': ['1:cpu:/a\n2:memory:/a\n3:name=systemd:/s', 1, '/s'],
    'version 1, cpu and memory apart': [
      '1:cpu:/\n2:memory:/b',
      1,
      'cpu and memory cgroup hierarchy not unified.  cpu: /, memory: /b',
    ],
    'version 1, nothing counted': ['0::/u', 1, 'the process is in no cgroup for cpu and memory'],
  };
  for (const [name, [text, version, expected]] of Object.entries(cases)) {
    test(name, () => {
      const found = accountedCgroup(processCgroupsIn(text), version);
      assert.equal('path' in found ? found.path : found.problem, expected);
    });
  }
});
