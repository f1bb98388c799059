import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { systemClock } from '../base/system-clock.ts';
import { hostLogFiles, openNodeLog } from './log-files.ts';

let folder = '';
let path = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'log-files-'));
  path = join(folder, '0.log');
  writeFileSync(path, 'content');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a log file', () => {
  test('keeps its identity when it is renamed, grows and is removed', async () => {
    const log = await hostLogFiles.open(path);
    const aside = join(folder, 'aside');
    renameSync(path, aside);
    writeFileSync(path, '');
    assert.equal((await hostLogFiles.stat(aside))?.identity, log.identity);
    assert.notEqual((await hostLogFiles.stat(path))?.identity, log.identity);
    appendFileSync(aside, ' and more');
    unlinkSync(aside);
    assert.equal(await log.size(), 16);
    const buffer = Buffer.alloc(100);
    assert.equal(await log.read(buffer, 8, 100), 8);
    assert.equal(buffer.toString('utf8', 0, 8), 'and more');
    assert.equal(await log.read(buffer, 16, 100), 0);
    await log.close();
  });

  test('that is missing or not a log is reported with its kind', async () => {
    const missing = join(folder, 'missing');
    await assert.rejects(hostLogFiles.open(missing), { kind: 'notFound' });
    await assert.rejects(hostLogFiles.open(join(path, 'below')), { kind: 'notFound' });
    await assert.rejects(hostLogFiles.resolve(missing), { kind: 'notFound' });
    await assert.rejects(hostLogFiles.open(folder), { kind: 'denied' });
    assert.equal(await hostLogFiles.stat(missing), undefined);
    assert.deepEqual(await hostLogFiles.list(missing, ''), []);
    assert.throws(
      () =>
        hostLogFiles.watch(
          missing,
          () => {},
          () => {},
        ),
      { kind: 'notFound' },
    );
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    await assert.rejects(hostLogFiles.open(pipe), { kind: 'denied' });
  });

  test('is not the target of a link, unless it is in the same folder or in that of Docker', async () => {
    const id = 'a'.repeat(64);
    const own = join(folder, 'logs/ns_pod_uid/main');
    const docker = join(folder, 'docker/containers', id);
    for (const made of [own, docker]) mkdirSync(made, { recursive: true });
    writeFileSync(join(docker, `${id}-json.log`), 'of docker');
    writeFileSync(join(own, '1.log'), 'own');
    symlinkSync(path, join(own, 'secret.log'));
    symlinkSync(join(docker, `${id}-json.log`), join(own, '0.log'));
    symlinkSync('1.log', join(own, 'near.log'));
    symlinkSync(join(folder, 'logs'), join(folder, 'linked'));
    symlinkSync(folder, join(folder, 'logs/ns_bad_uid'));
    mkdirSync(join(folder, 'main'));
    writeFileSync(join(folder, 'main/0.log'), 'secret');
    assert.equal(await hostLogFiles.resolve(join(own, '0.log'), id), join(docker, `${id}-json.log`));
    assert.equal(await hostLogFiles.resolve(join(own, 'near.log'), id), join(own, '1.log'));
    assert.equal(await hostLogFiles.resolve(join(folder, 'linked/ns_pod_uid/main/1.log')), join(own, '1.log'));
    await assert.rejects(hostLogFiles.resolve(join(own, '0.log'), 'b'.repeat(64)), { kind: 'denied' });
    await assert.rejects(hostLogFiles.resolve(join(own, 'secret.log'), id), { kind: 'denied' });
    await assert.rejects(hostLogFiles.resolve(join(folder, 'logs/ns_bad_uid/main/0.log'), id), { kind: 'denied' });
  });

  test('that is swapped for a link, or whose folder is, after it was resolved is not opened', async () => {
    symlinkSync(path, join(folder, 'link.log'));
    await assert.rejects(hostLogFiles.open(join(folder, 'link.log')), { kind: 'denied' });
    mkdirSync(join(folder, 'real'));
    writeFileSync(join(folder, 'real/0.log'), 'secret');
    symlinkSync('real', join(folder, 'swapped'));
    await assert.rejects(hostLogFiles.open(join(folder, 'swapped/0.log')), { kind: 'denied' });
  });

  test('has its rotated files found among any number of others', async () => {
    const own = join(folder, 'own');
    mkdirSync(own);
    for (let number = 0; number < 1_000; number++) writeFileSync(join(own, `other-${number}`), '');
    for (const name of ['0.log', '0.log.20260101-000000']) writeFileSync(join(own, name), '');
    assert.deepEqual(await hostLogFiles.list(own, '0.log'), ['0.log', '0.log.20260101-000000']);
  });

  test('is watched by its folder', async () => {
    const deadline = new AbortController();
    const cancel = systemClock().after(30_000, () => deadline.abort());
    const name = await new Promise((resolve, reject) => {
      deadline.signal.addEventListener('abort', reject);
      const close = hostLogFiles.watch(
        folder,
        (changed) => {
          close();
          resolve(changed);
        },
        reject,
      );
      appendFileSync(path, 'x');
    });
    cancel();
    assert.equal(name, '0.log');
  });
});

describe('files below the folder of logs', () => {
  test('is opened, through links too', async () => {
    mkdirSync(join(folder, 'sub'));
    symlinkSync('../0.log', join(folder, 'sub', 'link'));
    const file = await openNodeLog(join(folder, 'sub', 'link'), [folder]);
    assert.ok(file.kind === 'file');
    assert.equal(file.size, 7);
    const buffer = Buffer.alloc(7);
    assert.equal(await file.read(buffer, 0, 7), 7);
    await file.close();
    const listed = await openNodeLog(folder, [folder]);
    assert.ok(listed.kind === 'folder');
    const { entries, more } = await listed.list(10);
    assert.equal(more, false);
    assert.deepEqual(
      entries.toSorted((one, other) => (one.name < other.name ? -1 : 1)),
      [
        { name: '0.log', isFolder: false },
        { name: 'sub', isFolder: true },
      ],
    );
    assert.deepEqual((await listed.list(1)).more, true);
    await listed.close();
  });

  test('is not a file elsewhere, also where the name begins alike', async () => {
    const inside = join(folder, 'log');
    const beside = join(folder, 'logs-of-others');
    for (const made of [inside, beside]) mkdirSync(made);
    writeFileSync(join(beside, 'x'), '');
    symlinkSync(beside, join(inside, 'out'));
    await assert.rejects(openNodeLog(join(inside, 'out', 'x'), [inside]), { kind: 'denied' });
    await assert.rejects(openNodeLog(join(inside, 'no'), [inside]), { kind: 'notFound' });
    await assert.rejects(openNodeLog('/dev/null', ['/']), { kind: 'denied' });
    const allowed = await openNodeLog(join(inside, 'out', 'x'), [inside, beside]);
    await allowed.close();
  });
});
