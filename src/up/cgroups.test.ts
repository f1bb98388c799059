import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { makeCgroup } from './cgroups.ts';

describe('makeCgroup', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'cgroups-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const hierarchy = (name: string, controllers: Readonly<Record<string, string>> = {}): string => {
    const path = join(folder, name);
    mkdirSync(path);
    for (const [below, text] of Object.entries(controllers)) {
      mkdirSync(join(path, below), { recursive: true });
      writeFileSync(join(path, below, 'cgroup.controllers'), text);
      writeFileSync(join(path, below, 'cgroup.subtree_control'), 'memory');
    }
    return path;
  };
  const handedDown = (path: string): string => readFileSync(join(path, 'cgroup.subtree_control'), 'utf8');

  test('version 2: every cgroup above hands down all it has', async () => {
    const root = hierarchy('two', { '': 'cpu io memory\n', 'machine.slice': 'cpu memory\n' });
    await makeCgroup('/machine.slice/node', [root]);
    assert.ok(existsSync(join(root, 'machine.slice/node')));
    assert.deepEqual([handedDown(root), handedDown(join(root, 'machine.slice'))], ['+cpu +io +memory', '+cpu +memory']);
  });

  test('version 1: a folder in each hierarchy', async () => {
    const roots = [hierarchy('cpu'), hierarchy('memory')];
    await makeCgroup('/node', roots);
    for (const root of roots) assert.ok(existsSync(join(root, 'node')));
  });
});
