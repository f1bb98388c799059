import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Masked } from '../../base/masked.ts';
import { atomicWrite, hostFiles } from '../../host/index.ts';
import { createFakeCri } from '../../testing/fake-cri/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryFiles } from '../../testing/memory-files.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { makeCredential, type Credential } from '../credentials/credential.ts';
import type { RecordFiles } from '../ports.ts';
import { encodeIntent } from './pull-record.ts';
import { PullRecords } from './pull-records.ts';
import type { VerificationPolicy } from './verification.ts';

const image = 'a.example/app:1';
const ref = 'sha256:1';
const fileOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('hex')}`;
const intentPath = `/root/image_manager/pulling/${fileOf(image)}`;
const recordPath = `/root/image_manager/pulled/${fileOf(ref)}`;
const signal = new AbortController().signal;

const credential = (name: string): Credential =>
  makeCredential(new Masked({ username: 'u', password: name }), { kind: 'secret', uid: '1', namespace: 'ns', name });

async function setUp(policy: VerificationPolicy = 'NeverVerifyPreloadedImages', files = new MemoryFiles()) {
  const clock = new FakeClock();
  const cri = createFakeCri({ clock });
  const log = new MemoryLog();
  const port: RecordFiles = {
    makeFolder: (path, mode) => files.makeFolder(path, mode),
    readText: (path) => files.readText(path),
    writeAtomic: (path, content, mode) => files.writeFile(path, content, mode),
    list: (path) => files.list(path),
    removeTree: (path) => files.removeTree(path),
  };
  const rule = { policy, allowlist: [] };
  const records = new PullRecords({ clock, log, files: port, service: cri, rootDir: '/root', rule });
  const mayUse = (...credentials: readonly Credential[]) => records.mayUse(image, ref, async () => credentials);
  return { clock, cri, log, files, records, mayUse, start: () => records.start(signal) };
}

describe('the life of an image', () => {
  test('after one call without an answer at the start, the image service is not called again', async () => {
    for (const [error, asked] of [
      ['timeout', 1],
      ['unavailable', 1],
      ['invalid', 3],
    ] as const) {
      const { cri, files, start } = await setUp();
      for (const tag of [1, 2, 3]) {
        const name = `a.example/app:${tag}`;
        files.append(`/root/image_manager/pulling/${fileOf(name)}`, encodeIntent(name));
      }
      cri.faults.fail('imageStatus', error);
      await start();
      assert.equal(cri.calls.filter(({ verb }) => verb === 'imageStatus').length, asked, error);
      assert.equal((await files.list('/root/image_manager/pulling')).length, 3, 'an intention can stay');
    }
  });

  test('a preloaded image is open, one that the agent pulled only to the pods that had it pulled', async () => {
    const { files, records, mayUse, start } = await setUp();
    await start();
    assert.equal(await mayUse(), true);
    await records.began(image);
    assert.equal(files.has(intentPath), true);
    assert.equal(await mayUse(), false, 'a pull that may have been another pod’s');
    await records.pulled(image, ref, credential('mine'));
    assert.equal(files.has(intentPath), false);
    assert.equal(await mayUse(credential('mine')), true);
    assert.equal(await mayUse(credential('other')), false);
    assert.equal(await mayUse(), false);
    assert.deepEqual(files.tree('/root/image_manager'), [`600 pulled/${fileOf(ref)}`, '700 pulled', '700 pulling']);
  });

  test('a pull without a credential of its own opens it to all', async () => {
    const { records, mayUse, start } = await setUp('AlwaysVerify');
    await start();
    assert.equal(await mayUse(), false);
    await records.began(image);
    await records.pulled(image, ref, undefined);
    assert.equal(await mayUse(), true);
  });

  test('a pull that failed leaves nothing; another that is under way keeps its intention', async () => {
    const { files, records, mayUse, start } = await setUp();
    await start();
    await records.began(image);
    await records.began(image);
    await records.failed(image);
    assert.equal(files.has(intentPath), true);
    assert.equal(await mayUse(), false);
    await records.failed(image);
    assert.equal(files.has(intentPath), false);
    assert.equal(await mayUse(), true);
  });

  test('a known credential from another secret is recorded', async () => {
    const { files, records, mayUse, start } = await setUp();
    await start();
    await records.began(image);
    await records.pulled(image, ref, credential('mine'));
    const copy = makeCredential(credential('mine').auth, { kind: 'secret', uid: '2', namespace: 'ns2', name: 'copy' });
    assert.equal(await mayUse(copy), true);
    assert.match(await files.readText(recordPath), /"namespace":"ns2","name":"copy"/);
  });

  test('credentials are read only where they matter', async () => {
    const { records, start } = await setUp('NeverVerify');
    await start();
    assert.equal(await records.mayUse(image, ref, () => assert.fail('asked')), true);
  });
});

describe('what goes wrong', () => {
  test('a record that cannot be read closes the image, and the next pull writes it anew', async () => {
    const { files, log, records, mayUse, start } = await setUp();
    await start();
    await files.writeFile(recordPath, '{"half', 0o600);
    assert.equal(await mayUse(credential('mine')), false);
    assert.equal(log.messages('error').length, 1);
    await records.began(image);
    await records.pulled(image, ref, credential('mine'));
    assert.equal(await mayUse(credential('mine')), true);
  });

  test('a pull whose intent cannot be recorded must not begin', async () => {
    const { files, records, mayUse, start } = await setUp();
    await start();
    files.fault = () => {
      throw new Error('disk full');
    };
    await assert.rejects(records.began(image), /^TubeletError: failed to record image pull intent: disk full$/);
    files.fault = () => {};
    assert.equal(await mayUse(), true);
  });

  test('a record that cannot be written leaves the intention, so that the image stays closed', async () => {
    const { files, log, records, mayUse, start } = await setUp();
    await start();
    await records.began(image);
    files.fault = (_, path) => {
      if (path === recordPath) throw new Error('disk full');
    };
    await records.pulled(image, ref, credential('mine'));
    assert.equal(log.messages('error').length, 1);
    assert.equal(files.has(intentPath), true);
    assert.equal(await mayUse(), false);
  });
});

describe('after a crash', () => {
  const withIntent = (name: string): MemoryFiles => {
    const files = new MemoryFiles();
    files.append(`/root/image_manager/pulling/${fileOf(name)}`, encodeIntent(name));
    return files;
  };

  test('an image that came all the same is recorded and open to no pod', async () => {
    const { cri, files, records, start } = await setUp('NeverVerifyPreloadedImages', withIntent('busybox'));
    const { id } = cri.images.add('busybox:latest');
    await start();
    assert.deepEqual(await files.list('/root/image_manager/pulling'), []);
    assert.equal(await records.mayUse('busybox:latest', id, async () => [credential('mine')]), false);
  });

  test('the intention stays where the image did not come, or its state is unknown', async () => {
    for (const fails of [false, true]) {
      const { cri, files, mayUse, start } = await setUp('NeverVerifyPreloadedImages', withIntent(image));
      if (fails) cri.faults.fail('imageStatus', 'unavailable');
      await start();
      assert.equal(files.has(intentPath), true);
      assert.equal(await mayUse(), false);
    }
  });

  test('what is no record is passed over', async () => {
    const files = withIntent(image);
    files.append('/root/image_manager/pulling/sha256-x.tmp', 'x');
    files.append(`/root/image_manager/pulling/${fileOf('broken')}`, 'x');
    const { log, start } = await setUp('NeverVerifyPreloadedImages', files);
    await start();
    assert.equal(log.messages('warn').length, 1);
  });
});

test('records of removed images are removed, those younger than the listing stay', async () => {
  const { clock, files, records, start } = await setUp();
  await start();
  const pull = async (name: string): Promise<void> => {
    await records.began(image);
    await records.pulled(image, name, undefined);
  };
  await pull('gone');
  await pull('there');
  await clock.advance(2_000);
  const listedAt = clock.now();
  await pull('young');
  await records.prune(new Set(['there']), listedAt);
  const left = await files.list('/root/image_manager/pulled');
  assert.deepEqual(new Set(left), new Set([fileOf('there'), fileOf('young')]));
});

test('on a real disk files are private and whole', async (context) => {
  const rootDir = await mkdtemp(join(tmpdir(), 'records-'));
  context.after(() => rm(rootDir, { recursive: true }));
  const clock = new FakeClock();
  const random = seededRandom(1);
  const files = {
    ...hostFiles,
    writeAtomic: (path: string, content: string, mode: number) => atomicWrite(path, content, { mode, random }),
  };
  const rule = { policy: 'AlwaysVerify', allowlist: [] } as const;
  const service = createFakeCri({ clock });
  const records = new PullRecords({ clock, log: new MemoryLog(), files, service, rootDir, rule });
  await records.start(signal);
  await records.began(image);
  await records.pulled(image, ref, credential('mine'));
  assert.deepEqual(await readdir(join(rootDir, 'image_manager', 'pulling')), []);
  const [name = ''] = await readdir(join(rootDir, 'image_manager', 'pulled'));
  assert.equal(name, fileOf(ref));
  const { mode } = await stat(join(rootDir, 'image_manager', 'pulled', name));
  assert.equal(mode & 0o777, 0o600);
  assert.equal(await records.mayUse(image, ref, async () => [credential('mine')]), true);
});
