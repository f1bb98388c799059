import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Masked } from '../base/masked.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import { createFakeCri } from '../testing/fake-cri/index.ts';
import { anImageManager } from '../testing/image-manager.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryEvents } from '../testing/memory-events.ts';
import { MemoryFiles } from '../testing/memory-files.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { aContainer, aPod } from '../testing/pods.ts';
import { makeCredential } from './credentials/credential.ts';
import { PullRecords } from './records/pull-records.ts';
import type { VerificationPolicy } from './records/verification.ts';

const image = 'private.example/app:1';
const owner = aPod({ uid: 'uid-1', name: 'owner' });
const other = aPod({ uid: 'uid-2', name: 'other' });

async function setUp(policy: VerificationPolicy = 'NeverVerifyPreloadedImages') {
  const clock = new FakeClock();
  const cri = createFakeCri({ clock });
  cri.images.publish(image, {}, { username: 'owner', password: 'p' });
  const memory = new MemoryFiles();
  const files = Object.assign(memory, {
    writeAtomic: (path: string, content: string, mode: number) => memory.writeFile(path, content, mode),
  });
  const rule = { policy, allowlist: [] };
  const records = new PullRecords({ clock, log: new MemoryLog(), files, service: cri, rootDir: '/root', rule });
  await records.start(new AbortController().signal);
  const credentials = {
    of: ({ name }: DesiredPod) => {
      const own = makeCredential(new Masked({ username: name, password: 'p' }), {
        kind: 'secret',
        uid: '1',
        namespace: 'ns',
        name,
      });
      return { missing: [], find: async () => ({ credentials: [own], problems: [] }) };
    },
  };
  const events = new MemoryEvents();
  const manager = anImageManager({ clock, service: cri, events, parallelPulls: 2, credentials, records });
  const ensure = async (pod: DesiredPod, imagePullPolicy = 'IfNotPresent'): Promise<string> => {
    const container = aContainer('main', { image, imagePullPolicy });
    const ensured = await manager.ensure(pod, container, 'spec.containers{main}', new AbortController().signal);
    return 'ok' in ensured ? 'ok' : ensured.refusal.reason;
  };
  return { cri, memory, events, ensure };
}

describe('a private image on the node', () => {
  test('is open to the pod that had it pulled, and to no others', async () => {
    const { events, ensure } = await setUp();
    assert.equal(await ensure(owner), 'ok');
    events.take();
    assert.equal(await ensure(owner), 'ok');
    assert.deepEqual(events.take(), [
      `Normal Pulled: Container image "${image}" already present on machine and can be accessed by the pod`,
    ]);
    assert.equal(await ensure(other), 'ErrImagePull');
  });

  test('is not shown to other pods that must not pull', async () => {
    const { events, ensure } = await setUp();
    assert.equal(await ensure(owner), 'ok');
    events.take();
    assert.equal(await ensure(other, 'Never'), 'ErrImageNeverPull');
    assert.deepEqual(events.take(), [
      `Warning ErrImageNeverPull: Container image "${image}" is not present with pull policy of Never`,
    ]);
    assert.equal(await ensure(owner, 'Never'), 'ok');
  });
});

test('an image that was there before is open, unless everything is to be verified', async () => {
  for (const [policy, outcome] of [
    ['NeverVerifyPreloadedImages', 'ok'],
    ['AlwaysVerify', 'ErrImagePull'],
  ] as const) {
    const { cri, ensure } = await setUp(policy);
    cri.images.add(image);
    assert.equal(await ensure(other), outcome, policy);
  }
});

test('a pull that failed leaves no record, and one whose intent cannot be recorded is not made', async () => {
  const { cri, memory, events, ensure } = await setUp();
  assert.equal(await ensure(other), 'ErrImagePull');
  assert.deepEqual(await memory.list('/root/image_manager/pulling'), []);
  events.take();
  memory.fault = () => {
    throw new Error('disk full');
  };
  const before = cri.calls.filter(({ verb }) => verb === 'pullImage').length;
  assert.equal(await ensure(owner), 'ErrImagePull');
  assert.equal(
    events.take().at(-1),
    `Warning Failed: Failed to pull image "${image}": failed to record image pull intent: disk full`,
  );
  assert.equal(cri.calls.filter(({ verb }) => verb === 'pullImage').length, before);
});
