import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContainerCgroups } from './container-cgroups.ts';

function looker(there: string) {
  const tried: string[] = [];
  const look = (path: string): string | undefined => {
    tried.push(path);
    return path === there ? path : undefined;
  };
  return { tried, look };
}

test('every runtime’s way of calling a cgroup is tried, the last right one first', () => {
  const cgroups = new ContainerCgroups();
  const first = looker('/pod/cri-containerd-a.scope');
  assert.equal(cgroups.find('/pod', 'a', first.look), '/pod/cri-containerd-a.scope');
  assert.deepEqual(first.tried, ['/pod/a', '/pod/cri-containerd-a.scope']);
  const second = looker('/pod/cri-containerd-b.scope');
  cgroups.find('/pod', 'b', second.look);
  assert.deepEqual(second.tried, ['/pod/cri-containerd-b.scope']);
  for (const name of ['crio-c.scope', 'crio-c', 'c']) {
    assert.equal(cgroups.find('/pod', 'c', looker(`/pod/${name}`).look), `/pod/${name}`);
  }
});

test('where one was found it is looked for, and only there, for as long as it is there', () => {
  const cgroups = new ContainerCgroups();
  cgroups.find('/pod', 'a', looker('/pod/crio-a').look);
  cgroups.find('/pod', 'b', looker('/pod/b').look);
  const again = looker('/pod/crio-a');
  assert.equal(cgroups.find('/pod', 'a', again.look), '/pod/crio-a');
  assert.deepEqual(again.tried, ['/pod/crio-a']);
  const moved = looker('/pod/a');
  assert.equal(cgroups.find('/pod', 'a', moved.look), '/pod/a');
  assert.deepEqual(moved.tried, ['/pod/crio-a', '/pod/a']);
  assert.equal(cgroups.find('/other', 'a', looker('/other/a').look), '/other/a');
});

test('one that is nowhere is found nowhere', () => {
  assert.equal(
    new ContainerCgroups().find('/pod', 'a', () => undefined),
    undefined,
  );
});

test('without cgroups of pods it is where runtimes put containers of nobody', () => {
  for (const path of ['/k8s.io/a', '/system.slice/cri-containerd-a.scope', '/a']) {
    assert.equal(new ContainerCgroups().find(undefined, 'a', looker(path).look), path);
  }
});
