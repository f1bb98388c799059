import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManifestFolder } from './manifest-folder.ts';

test('a new file is reported by its entry and then by its content, as a file system does', () => {
  const folder = new ManifestFolder();
  const seen: string[] = [];
  folder.watch('/m', (name, kind) => void seen.push(`${name} ${kind}`));
  folder.put('/m/a.yaml', 'one');
  folder.put('/m/a.yaml', 'two');
  folder.remove('/m/a.yaml');
  folder.put('/m/a.yaml', 'three');
  assert.deepEqual(seen, [
    'a.yaml entry',
    'a.yaml content',
    'a.yaml content',
    'a.yaml entry',
    'a.yaml entry',
    'a.yaml content',
  ]);
});
