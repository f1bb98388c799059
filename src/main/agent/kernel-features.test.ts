import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { hasSelinux, hasSwapController } from './kernel-features.ts';

test('features of the kernel', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'kernel-'));
  t.after(() => rmSync(root, { recursive: true }));
  const folders = {
    cgroups: join(root, 'cgroup'),
    ownCgroup: join(root, 'self'),
    selinux: join(root, 'selinux'),
    ownLabel: join(root, 'label'),
  };
  const show = (path: string, text = ''): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  assert.equal(hasSwapController(1, folders), false);
  assert.equal(hasSwapController(2, folders), false);
  assert.equal(hasSelinux(folders), false);

  show('cgroup/memory/memory.memsw.limit_in_bytes');
  assert.equal(hasSwapController(1, folders), true);

  show('self', '0::/system.slice/agent.service\n');
  assert.equal(hasSwapController(2, folders), false);
  show('cgroup/system.slice/agent.service/memory.swap.max');
  assert.equal(hasSwapController(2, folders), true);

  show('selinux/enforce', '1');
  assert.equal(hasSelinux(folders), false, 'no label');
  show('label', 'kernel\0');
  assert.equal(hasSelinux(folders), false, 'no policy');
  show('label', 'system_u:system_r:unconfined_service_t:s0\0');
  assert.equal(hasSelinux(folders), true);
  show('selinux/enforce', '0');
  assert.equal(hasSelinux(folders), true, 'permissive is enabled');
});
