import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cadvisorPage, resourcePage } from '../../src/stats/pages/index.ts';
import { someMachine, usageSnapshot } from '../../src/testing/usage-snapshots.ts';
import { checkMetrics, withoutPrometheus } from '../support/promtool.ts';

/** What the linter says about names that upstream has chosen, and that readers know. */
const upstreamsOwn = [
  `cadvisor_version_info label names should be written in 'snake_case' not 'camelCase'`,
  'container_cpu_load_d_average_10s metric names should not contain abbreviated units',
  'container_fs_inodes_total non-counter metrics should not have "_total" suffix',
  'container_memory_failcnt counter metrics should have "_total" suffix',
];

describe('promtool', { skip: withoutPrometheus }, () => {
  for (const version of [1, 2] as const) {
    const snapshot = usageSnapshot({ version, pods: 20, containersPerPod: 2 });

    it(`accepts /metrics/cadvisor, cgroups of version ${version}`, () => {
      const page = [...cadvisorPage(snapshot, someMachine)].join('');
      assert.deepEqual(checkMetrics(page), upstreamsOwn);
    });

    it(`accepts /metrics/resource, cgroups of version ${version}`, () => {
      assert.deepEqual(checkMetrics(resourcePage(snapshot)), []);
    });
  }

  it('accepts pages with labels that need escapes', () => {
    const snapshot = usageSnapshot({ version: 2, pods: 1, containersPerPod: 1 });
    const nasty = snapshot.cgroups.map((owned) => {
      const owner = owned.owner && { ...owned.owner, image: 'a"b\\c\nd{e="f"} \u{1F600}', pod: '\\n"' };
      return { ...owned, owner };
    });
    const page = [...cadvisorPage({ ...snapshot, cgroups: nasty }, someMachine)].join('');
    assert.deepEqual(checkMetrics(page), upstreamsOwn);
    assert.deepEqual(checkMetrics(resourcePage({ ...snapshot, cgroups: nasty })), []);
  });

  it('accepts pages that say that nothing could be read', () => {
    assert.deepEqual(checkMetrics([...cadvisorPage(undefined, undefined)].join('')), []);
    assert.deepEqual(checkMetrics(resourcePage(undefined)), []);
  });

  it('refuses a page that is not in the format', () => {
    assert.throws(() => checkMetrics('a{b="'), /promtool ended with 1/);
  });
});
