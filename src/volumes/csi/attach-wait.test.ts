import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VolumeAttachment } from '../../gen/kubernetes/types.ts';
import { csiDriverName, csiWorld } from '../../testing/csi-world.ts';
import { classifyAttachment, type AttachState } from './attach-wait.ts';
import { attachableName, attachmentName } from './volume-names.ts';

const volume = { driver: csiDriverName, handle: 'handle-data' };
const never = new AbortController().signal;

describe('classifyAttachment', () => {
  const attachment = (status: VolumeAttachment['status'] | undefined, metadata = {}): VolumeAttachment => ({
    metadata: { name: 'a', ...metadata },
    spec: { attacher: 'd', nodeName: 'n', source: {} },
    ...(status && { status }),
  });
  const cases: readonly (readonly [string, VolumeAttachment, AttachState])[] = [
    ['attached', attachment({ attached: true, attachmentMetadata: { dev: 'x' } }), { context: { dev: 'x' } }],
    ['attached, without a word', attachment({ attached: true }), { context: {} }],
    ['not yet', attachment({ attached: false }), { waitingFor: 'VolumeAttachment a is not attached' }],
    ['without a status', attachment(undefined), { waitingFor: 'VolumeAttachment a is not attached' }],
    ['failed', attachment({ attached: false, attachError: { message: 'no such disk' } }), { failed: 'no such disk' }],
    [
      'going',
      attachment({ attached: true }, { deletionTimestamp: '2025-01-01T00:00:00Z' }),
      { failed: 'volume attachment is being deleted' },
    ],
  ];
  for (const [what, object, state] of cases) test(what, () => assert.deepEqual(classifyAttachment(object), state));
});

describe('waiting', () => {
  test('goes on as soon as the node’s object has changed, without a timer', async () => {
    const { attach, attachments, state } = csiWorld();
    let done = false;
    const waiting = attachments.wait(volume, never).finally(() => (done = true));
    state.inUse.add(attachableName(volume));
    attachments.changed();
    await new Promise(setImmediate);
    assert.equal(done, false);
    attach('data', { attached: true, attachmentMetadata: { device: '/dev/x' } });
    attachments.changed();
    assert.deepEqual(await waiting, { device: '/dev/x' });
  });

  const reasons: readonly (readonly [string, (world: ReturnType<typeof csiWorld>) => void, string])[] = [
    ['not in use', () => {}, "Volume has not been added to the list of VolumesInUse in the node's volume status"],
    [
      'not attached',
      ({ state }) => void state.inUse.add(attachableName(volume)),
      'Volume not attached according to node status',
    ],
    [
      'an attachment that is not there',
      ({ state }) => {
        state.inUse.add(attachableName(volume));
        state.attached.add(attachableName(volume));
      },
      `volume handle-data has GET error for volume attachment ${attachmentName(volume, 'node-1')}: ` +
        `volumeattachments "${attachmentName(volume, 'node-1')}" not found`,
    ],
    [
      'an attachment that takes its time',
      ({ attach }) => attach('data', { attached: false }),
      `VolumeAttachment ${attachmentName(volume, 'node-1')} is not attached`,
    ],
  ];
  for (const [what, prepare, words] of reasons) {
    test(`ends after two minutes of ${what}, with the reason and since when`, async () => {
      const world = csiWorld();
      prepare(world);
      const first = assert.rejects(world.attachments.wait(volume, never));
      await world.clock.advance(130_000);
      await first;
      // Since the first try, not the last.
      const message =
        'timed out waiting for external-attacher of fake.csi.example.com CSI driver to attach volume handle-data: ' +
        `${words} (since 2025-01-01T00:00:00Z)`;
      const second = assert.rejects(world.attachments.wait(volume, never), {
        step: 'MountVolume.WaitForAttach failed',
        message,
      });
      await world.clock.advance(130_000);
      await second;
    });
  }

  test('ends at once with the error of who attaches', async () => {
    const { attach, attachments } = csiWorld();
    attach('data', { attached: false, attachError: { message: 'disk is on fire' } });
    await assert.rejects(attachments.wait(volume, never), { message: 'disk is on fire' });
  });

  test('ends with the signal of the caller', async () => {
    const { attachments } = csiWorld();
    const abort = new AbortController();
    const waiting = attachments.wait(volume, abort.signal);
    abort.abort(new Error('the pod is gone'));
    await assert.rejects(waiting, { message: 'the pod is gone' });
  });
});
