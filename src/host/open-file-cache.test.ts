import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { OpenFileCache } from './open-file-cache.ts';

const folder = mkdtempSync(join(tmpdir(), 'kept-files-'));
after(() => rmSync(folder, { recursive: true }));

function fileOf(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** How many descriptors of this process lead to the path. */
function openOf(path: string): number {
  const target = (descriptor: string): string => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      // The one that the listing itself was made by.
      return '';
    }
  };
  return readdirSync('/proc/self/fd').filter((descriptor) => target(descriptor) === path).length;
}

async function endOf(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

describe('files that stay open', () => {
  test('each reading has the current contents, by one descriptor', () => {
    const files = new OpenFileCache({ clock: new FakeClock(), maxOpen: 10 });
    const path = fileOf('one', 'first\n');
    const file = files.file(path);
    assert.equal(file.read(), 'first\n');
    writeFileSync(path, 'second, longer\n');
    assert.equal(file.read(), 'second, longer\n');
    writeFileSync(path, '3\n');
    assert.equal(file.read(), '3\n');
    assert.equal(openOf(path), 1);
    files.close();
    assert.equal(openOf(path), 0);
    assert.equal(file.read(), '3\n', 'and is opened again by the next reading');
    files.close();
  });

  test('a long file is read completely', () => {
    const files = new OpenFileCache({ clock: new FakeClock(), maxOpen: 10 });
    const text = 'a line of twenty byte\n'.repeat(5_000);
    const file = files.file(fileOf('long', text));
    assert.equal(file.read(), text);
    assert.equal(file.read(), text);
    files.close();
  });

  test('a file that never existed', () => {
    const clock = new FakeClock();
    const files = new OpenFileCache({ clock, maxOpen: 10 });
    assert.equal(files.file(join(folder, 'nothing')).read(), undefined);
    assert.deepEqual([files.size, clock.pending()], [0, 0]);
  });

  test('a removed file is closed, and another one of the same name is opened', async () => {
    const files = new OpenFileCache({ clock: new FakeClock(), maxOpen: 10 });
    const child = spawn('sleep', ['1000']);
    await once(child, 'spawn');
    const path = join(folder, 'link');
    symlinkSync(`/proc/${child.pid}/stat`, path);
    const file = files.file(path);
    assert.match(file.read() ?? '', new RegExp(`^${child.pid} `));
    assert.equal(files.size, 1);
    await endOf(child);
    assert.equal(file.read(), undefined);
    assert.equal(files.size, 0);

    const other = spawn('sleep', ['1000']);
    await once(other, 'spawn');
    symlinkSync(`/proc/${other.pid}/stat`, `${path}.new`);
    renameSync(`${path}.new`, path);
    assert.match(file.read() ?? '', new RegExp(`^${other.pid} `));
    await endOf(other);
    files.close();
  });

  test('there are never more than allowed; the others are read all the same', () => {
    const files = new OpenFileCache({ clock: new FakeClock(), maxOpen: 2 });
    const paths = ['a', 'b', 'c'].map((name) => fileOf(name, name));
    const kept = paths.map((path) => files.file(path));
    for (let round = 0; round < 2; round++)
      assert.deepEqual(
        kept.map((file) => file.read()),
        ['a', 'b', 'c'],
      );
    assert.equal(files.size, 2);
    assert.deepEqual(paths.map(openOf), [1, 1, 0]);
    files.close();
  });

  test('a file without readers is closed after a while, and then no timer is left', async () => {
    const clock = new FakeClock();
    const files = new OpenFileCache({ clock, maxOpen: 10 });
    const [used, unused] = [fileOf('used', 'used'), fileOf('unused', 'unused')];
    const kept = files.file(used);
    kept.read();
    files.file(unused).read();
    for (let minute = 0; minute < 3; minute++) {
      await clock.advance(40_000);
      kept.read();
    }
    assert.deepEqual([used, unused].map(openOf), [1, 0]);
    await clock.advance(200_000);
    assert.equal(files.size, 0);
    assert.equal(openOf(used), 0);
    assert.equal(clock.pending(), 0);
  });
});
