import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { appendFile, readlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { containerId, podUid } from '../base/ids.ts';
import { silentLog } from '../base/log.ts';
import { LogCompression } from '../pods/logs/log-compression.ts';
import { nodeLogFiles as files } from './node-log-files.ts';

const never = new AbortController().signal;
let folder: string;
const at = (name: string): string => join(folder, name);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tubelet-log-files-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('compressing', () => {
  test('keeps content and mode', async () => {
    writeFileSync(at('a'), 'text '.repeat(10_000), { mode: 0o640 });
    await files.compress(at('a'), at('a.tmp'), never);
    assert.equal(gunzipSync(readFileSync(at('a.tmp'))).toString(), 'text '.repeat(10_000));
    assert.equal(statSync(at('a.tmp')).mode & 0o777, 0o640);
  });

  test('a large file takes little memory', async () => {
    const sink = createWriteStream(at('large'));
    for (let piece = 0; piece < 32; piece++) {
      if (!sink.write(Buffer.alloc(1016 * 1024, piece))) await once(sink, 'drain');
    }
    sink.end();
    await once(sink, 'close');
    const { arrayBuffers: before } = process.memoryUsage();
    let max = 0;
    const done = new AbortController();
    const finished = files.compress(at('large'), at('large.tmp'), never).finally(() => done.abort());
    while (!done.signal.aborted) {
      max = Math.max(max, process.memoryUsage().arrayBuffers);
      await new Promise((resolve) => void setImmediate(resolve));
    }
    await finished;
    assert.ok(max - before < 16 * 1024 * 1024, `${max - before} bytes`);
  });

  test('can be aborted, and refuses links and existing files', async () => {
    writeFileSync(at('a'), Buffer.alloc(8 * 1016 * 1024));
    const stop = new AbortController();
    const work = files.compress(at('a'), at('a.tmp'), stop.signal);
    stop.abort();
    await assert.rejects(work, { kind: 'cancelled' });
    symlinkSync(at('a'), at('b'));
    await assert.rejects(files.compress(at('b'), at('b.tmp'), never), { kind: 'denied' });
    writeFileSync(at('c.tmp'), 'mine');
    await assert.rejects(files.compress(at('a'), at('c.tmp'), never), { kind: 'alreadyExists' });
    await assert.rejects(files.compress(at('none'), at('none.tmp'), never), { kind: 'notFound' });
  });

  test('in the background replaces the file, over the rest of an earlier try', async () => {
    writeFileSync(at('a'), 'words');
    writeFileSync(at('a.tmp'), 'wor');
    const replaced = new Promise<void>((resolve) => {
      const remove = async (path: string): Promise<void> => {
        await files.remove(path);
        if (path === at('a')) resolve();
      };
      new LogCompression({ log: silentLog, files: { ...files, remove }, maxWorkers: 1 }).begin(
        {
          id: containerId('c'),
          container: 'main',
          pod: { uid: podUid('uid-1'), namespace: 'default', name: 'web' },
          path: at('a'),
          running: true,
        },
        [at('a')],
      );
    });
    await replaced;
    assert.equal(gunzipSync(readFileSync(at('a.gz'))).toString(), 'words');
    assert.deepEqual([existsSync(at('a')), existsSync(at('a.tmp'))], [false, false]);
  });
});

describe('names', () => {
  test('a rename back does not overwrite', async () => {
    writeFileSync(at('a'), 'old');
    writeFileSync(at('b'), 'new');
    await assert.rejects(files.renameBack(at('a'), at('b')), { kind: 'alreadyExists' });
    assert.equal(readFileSync(at('b'), 'utf8'), 'new');
    rmSync(at('b'));
    await files.renameBack(at('a'), at('b'));
    assert.deepEqual(await files.list(folder, 'b'), ['b']);
  });

  test('a missing file has no size, a missing folder no names, and both can be removed', async () => {
    assert.equal(await files.size(at('none')), undefined);
    assert.deepEqual(await files.list(at('none'), ''), []);
    await files.remove(at('none'));
    assert.equal(await files.exists(at('none')), false);
    assert.equal(await files.readLink(at('none')), undefined);
  });

  test('nothing is done through a link in place of the folder of a pod or container', async () => {
    const logs = at('logs');
    const others = at('others/main');
    for (const made of [join(logs, 'pod'), others]) mkdirSync(made, { recursive: true });
    writeFileSync(join(others, '0.log'), 'of others');
    symlinkSync(others, join(logs, 'pod/main'));
    symlinkSync(at('others'), join(logs, 'linked'));
    for (const path of [join(logs, 'pod/main/0.log'), join(logs, 'linked/main/0.log')]) {
      const denied = { kind: 'denied', message: /reached through a link/ };
      await assert.rejects(files.size(path), denied);
      await assert.rejects(files.read(path, 0, 9), denied);
      await assert.rejects(files.rename(path, `${path}.aside`), denied);
      await assert.rejects(files.remove(path), denied);
      await assert.rejects(files.compress(path, `${path}.gz`, never), denied);
    }
    assert.equal(readFileSync(join(others, '0.log'), 'utf8'), 'of others');
    // The folder of all logs itself may be a link of the node.
    symlinkSync(at('others'), at('root-pod'));
    mkdirSync(at('data/pod/main'), { recursive: true });
    writeFileSync(at('data/pod/main/0.log'), 'own');
    symlinkSync(at('data'), at('root'));
    assert.equal(await files.size(at('root/pod/main/0.log')), 3);
  });

  test('links are made once', async () => {
    await files.link(at('l'), '/target');
    assert.equal(await readlink(at('l')), '/target');
    assert.equal(await files.readLink(at('l')), '/target');
    await assert.rejects(files.link(at('l'), '/other'), { kind: 'alreadyExists' });
    writeFileSync(at('plain'), '');
    assert.equal(await files.readLink(at('plain')), undefined);
  });
});

describe('watching', () => {
  test('reports a write', async () => {
    writeFileSync(at('a'), '');
    let stop = (): void => {};
    const changed = new Promise<void>((resolve) => {
      stop = files.watch(at('a'), resolve);
    });
    await appendFile(at('a'), 'line\n');
    await changed;
    stop();
  });

  test('of a missing file fails', () => {
    assert.throws(() => files.watch(at('none'), () => {}), { kind: 'notFound' });
  });
});
