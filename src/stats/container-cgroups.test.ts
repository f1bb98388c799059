import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContainerCgroups } from './container-cgroups.ts';

function reader(there: string) {
  const tried: string[] = [];
  const read = (path: string): string | undefined => {
    tried.push(path);
    return path === there ? path : undefined;
  };
  return { tried, read };
}

test('every runtime’s way of calling a cgroup is tried, the last right one first', () => {
  const cgroups = new ContainerCgroups();
  const first = reader('/pod/cri-containerd-a.scope');
  assert.equal(cgroups.find('/pod', 'a', first.read), '/pod/cri-containerd-a.scope');
  assert.deepEqual(first.tried, ['/pod/a', '/pod/cri-containerd-a.scope']);
  const second = reader('/pod/cri-containerd-b.scope');
  cgroups.find('/pod', 'b', second.read);
  assert.deepEqual(second.tried, ['/pod/cri-containerd-b.scope']);
  for (const name of ['crio-c.scope', 'crio-c', 'c']) {
    assert.equal(cgroups.find('/pod', 'c', reader(`/pod/${name}`).read), `/pod/${name}`);
  }
});

test('one that is nowhere is found nowhere', () => {
  assert.equal(
    new ContainerCgroups().find('/pod', 'a', () => undefined),
    undefined,
  );
});

test('without cgroups of pods it is where runtimes put containers by default', () => {
  for (const path of ['/k8s.io/a', '/system.slice/cri-containerd-a.scope', '/a']) {
    assert.equal(new ContainerCgroups().find(undefined, 'a', reader(path).read), path);
  }
});
