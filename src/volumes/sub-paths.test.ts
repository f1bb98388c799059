import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeError, TubeletError } from '../base/errors.ts';
import { podUid } from '../base/ids.ts';
import { podPaths } from '../model/pod-paths.ts';
import { MemoryFiles } from '../testing/memory-files.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { memoryVolumeHost } from '../testing/memory-volume-host.ts';
import { SubPaths, type SubPath } from './sub-paths.ts';

const uid = podUid('uid-1');
const place = '/k/pods/uid-1/volume-subpaths';

async function setUp() {
  const files = new MemoryFiles();
  await files.makeFolder('/v', 0o2777);
  files.append('/v/..one/alpha', 'text');
  files.entries.set('/v/alpha', { target: '..one/alpha', mode: 0o777 });
  files.entries.set('/v/out', { target: '/etc', mode: 0o777 });
  await files.makeFolder('/etc', 0o755);
  const log = new MemoryLog();
  const parts = new SubPaths({ log, host: memoryVolumeHost(files), paths: podPaths('/k', '/l') });
  const bind = (subPath: string, index = 0, more: Partial<SubPath> = {}) =>
    parts.bind(uid, {
      mountName: 'vol',
      container: 'main',
      volumePath: '/v',
      subPath,
      values: [],
      target: `${place}/vol/main/${index}`,
      ...more,
    });
  return { files, log, parts, bind };
}

test('a folder that is missing is made with the mode of the volume, and bound', async () => {
  const { files, bind } = await setUp();
  await bind('a/b');
  assert.deepEqual([...files.mounts], [[`${place}/vol/main/0`, ['bind /v/a/b']]]);
  assert.deepEqual([files.entries.get('/v/a')?.mode, files.entries.get('/v/a/b')?.mode], [0o2777, 0o2777]);
  assert.deepEqual(files.tree(place), ['2777 vol/main/0', '750 vol', '750 vol/main']);
});

test('a path with a zero byte is refused: the kernel would read it up to there', async () => {
  const { files, bind } = await setUp();
  await assert.rejects(bind('a\0b'), {
    message: /^the subPath of volumeMount "vol" of container "main" has a zero byte/,
  });
  assert.deepEqual([files.has('/v/a'), files.mounts.size], [false, 0]);
});

test('a file is bound to a file, through a link inside the volume', async () => {
  const { files, bind } = await setUp();
  await bind('alpha', 2);
  assert.deepEqual(files.mounts.get(`${place}/vol/main/2`), ['bind /v/..one/alpha']);
  assert.equal(await files.readText(`${place}/vol/main/2`), 'text');
});

test('the next instance gets the same bind, or the folder that is there now', async () => {
  const { files, bind } = await setUp();
  await bind('alpha');
  const before = files.mounts.get(`${place}/vol/main/0`);
  await bind('alpha');
  assert.equal(files.mounts.get(`${place}/vol/main/0`), before);
  files.append('/v/..two/alpha', 'other');
  files.entries.set('/v/alpha', { target: '..two/alpha', mode: 0o777 });
  await bind('alpha');
  assert.deepEqual(files.mounts.get(`${place}/vol/main/0`), ['bind /v/..two/alpha']);
});

test('a subPath outside the volume is refused with upstream’s message', async () => {
  const { files, bind } = await setUp();
  await assert.rejects(bind('out'), {
    message: 'failed to create subPath directory for volumeMount "vol" of container "main"',
  });
  files.fault = (operation) => {
    if (operation === 'bind') throw new Error('no');
  };
  await assert.rejects(bind('a'), { message: 'failed to prepare subPath for volumeMount "vol" of container "main"' });
  assert.equal(files.mounts.size, 0);
});

test('storage that does not answer is in the error, and its pods are kept until takeWaiting', async () => {
  const { files, parts, bind } = await setUp();
  files.fault = (operation) => {
    if (operation === 'makeBelow') throw new TubeletError('unavailable', '/v/a: nfs4 does not answer');
  };
  const message =
    'failed to create subPath directory for volumeMount "vol" of container "main": /v/a: nfs4 does not answer';
  await assert.rejects(bind('a'), { kind: 'unavailable', message });
  assert.deepEqual([parts.takeWaiting(), parts.takeWaiting()], [[uid], []]);
  await assert.rejects(bind('a'));
  await parts.clean(uid);
  assert.deepEqual(parts.takeWaiting(), [], 'a removed pod does not wait');
});

test('clean removes all, is idempotent, and goes on after a crash at any step', async () => {
  for (let steps = 0, crashed = true; crashed; steps++) {
    const { files, parts, bind } = await setUp();
    await bind('a/b', 0);
    await bind('alpha', 1);
    let left = steps;
    files.fault = () => {
      if (left-- === 0) throw new Error('killed');
    };
    crashed = await parts.clean(uid).then(
      () => false,
      () => true,
    );
    files.fault = () => {};
    await parts.clean(uid);
    assert.deepEqual([files.mounts.size, files.tree('/k/pods/uid-1')], [0, []], `after ${steps} steps`);
    assert.equal(files.has('/v/a/b'), true, 'what is in the volume stays');
  }
});

test('what variables stand for is not shown, whatever goes wrong', async () => {
  const { log, bind } = await setUp();
  const value = 'open/sesame-4711';
  await assert.rejects(bind(`alpha/${value}`, 0, { values: [value] }));
  const causes = log.entries.map(({ error }) => describeError(error));
  assert.equal(causes.length, 1);
  assert.match(causes.join(), /<masked>/);
  assert.doesNotMatch(causes.join(), /sesame-4711/);
});
