import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NamespaceMode } from '../gen/cri/api.ts';
import type { PodSpec } from '../gen/kubernetes/types.ts';
import { namespaceOptions } from './namespaces.ts';

const spec = (fields: Partial<PodSpec>): PodSpec => ({ containers: [], ...fields });

test('processes', () => {
  assert.equal(namespaceOptions(spec({})).pid, NamespaceMode.CONTAINER);
  assert.equal(namespaceOptions(spec({ shareProcessNamespace: true })).pid, NamespaceMode.POD);
  assert.equal(namespaceOptions(spec({ hostPID: true })).pid, NamespaceMode.NODE);
});

test('a target is joined only where processes are kept apart', () => {
  const cases: readonly (readonly [Partial<PodSpec>, NamespaceMode, string])[] = [
    [{}, NamespaceMode.TARGET, 'abc'],
    [{ shareProcessNamespace: true }, NamespaceMode.POD, ''],
    [{ hostPID: true }, NamespaceMode.NODE, ''],
  ];
  for (const [fields, pid, targetId] of cases) {
    const made = namespaceOptions(spec(fields), { targetContainerId: 'abc' });
    assert.deepEqual([made.pid, made.targetId], [pid, targetId]);
  }
});

test('network and messages', () => {
  const own = namespaceOptions(spec({}));
  assert.deepEqual([own.network, own.ipc], [NamespaceMode.POD, NamespaceMode.POD]);
  const shared = namespaceOptions(spec({ hostNetwork: true, hostIPC: true }));
  assert.deepEqual([shared.network, shared.ipc], [NamespaceMode.NODE, NamespaceMode.NODE]);
});

test('users', () => {
  assert.equal(namespaceOptions(spec({})).usernsOptions?.mode, NamespaceMode.NODE);
  const mapping = { hostId: 65_536, containerId: 0, length: 65_536 };
  const own = namespaceOptions(spec({ hostUsers: false }), { userNamespace: { hostId: 65_536, length: 65_536 } });
  assert.deepEqual(own.usernsOptions, { mode: NamespaceMode.POD, uids: [mapping], gids: [mapping] });
});
