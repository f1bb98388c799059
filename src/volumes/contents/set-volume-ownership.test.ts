import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FileFacts } from '../../model/file-facts.ts';
import { aPod } from '../../testing/pods.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { setVolumeOwnership, type OwnershipChange } from './set-volume-ownership.ts';

const never = new AbortController().signal;
const group = { gid: 7, readOnly: false };
const advice =
  'consider using OnRootMismatch - https://kubernetes.io/docs/tasks/configure-pod-container/security-context/' +
  '#configure-volume-permission-and-ownership-change-policy-for-pods';

/** A tree whose walk goes on until the test ends it. */
function world(top: FileFacts | undefined = { kind: 'folder', mode: 0o755, uid: 0, gid: 0 }) {
  const clock = new FakeClock();
  const events: string[] = [];
  const walked: string[] = [];
  const walk: { processed?: (entries: number) => void; end?: () => void; fail?: (error: Error) => void } = {};
  const deps = {
    clock,
    paths: {
      stat: async () => top,
      changeTree: (path: string, access: unknown, _: unknown, processed?: (entries: number) => void) => {
        walked.push(`${path} ${JSON.stringify(access)}`);
        return new Promise<void>((resolve, reject) => {
          Object.assign(walk, { processed, end: resolve, fail: reject });
        });
      },
    },
    events: {
      record: (_: unknown, event: { type: string; reason: string; message: string }) =>
        void events.push(`${clock.monotonic()} ${event.type} ${event.reason} ${event.message}`),
    },
  };
  const give = (more: Partial<OwnershipChange> = {}): Promise<void> =>
    setVolumeOwnership(deps, { pod: aPod(), path: '/k/pods/uid-1/volumes/kind/data', group, ...more }, never);
  return { clock, events, walked, walk, give };
}

describe('a volume is given to a group', () => {
  test('quickly: no event, and no timer is left', async () => {
    const { clock, events, walked, walk, give } = world();
    const giving = give();
    await clock.advance(29_999);
    walk.end?.();
    await giving;
    await clock.advance(600_000);
    assert.deepEqual([events, clock.pending()], [[], 0]);
    assert.deepEqual(walked, ['/k/pods/uid-1/volumes/kind/data {"gid":7,"fileBits":432,"folderBits":1528}']);
  });

  test('slowly: after half a minute, then every minute, from the folder of the pod on', async () => {
    const { clock, events, walk, give } = world();
    const start = clock.monotonic();
    const giving = give();
    await clock.settle();
    walk.processed?.(1_000);
    await clock.advance(60_000);
    walk.processed?.(500);
    await clock.advance(90_000);
    walk.fail?.(new Error('disk is gone'));
    await assert.rejects(giving, /disk is gone/);
    const where = 'uid-1/volumes/kind/data';
    const reported = (atMs: number, words: string): string =>
      `${start + atMs} Warning VolumePermissionChangeInProgress Setting volume ownership for ${where}${words}`;
    assert.deepEqual(events, [
      reported(30_000, ` is taking longer than expected, ${advice}`),
      reported(90_000, ', processed 1500 files.'),
      reported(150_000, ', processed 1500 files.'),
    ]);
    assert.equal(clock.pending(), 0);
  });

  test('a path that is only held open is reported by its folder', async () => {
    const { clock, events, walk, give } = world();
    const giving = give({ path: '/proc/self/fd/9/.', shownAs: '/mnt/of-the-node' });
    await clock.advance(30_000);
    walk.end?.();
    await giving;
    assert.match(events[0] ?? '', /ownership for \/mnt\/of-the-node is taking/);
  });

  const right: FileFacts = { kind: 'folder', mode: 0o2775, uid: 0, gid: 7 };
  const rows: readonly (readonly [string, FileFacts | undefined, string | undefined, boolean])[] = [
    ['a top that is right, no policy', right, undefined, true],
    ['a top that is right, always', right, 'Always', true],
    ['a top that is right, on mismatch', right, 'OnRootMismatch', false],
    ['a top of another group, on mismatch', { ...right, gid: 8 }, 'OnRootMismatch', true],
    ['a top that does not hand its group on, on mismatch', { ...right, mode: 0o775 }, 'OnRootMismatch', true],
    ['a top whose group may not enter, on mismatch', { ...right, mode: 0o2765 }, 'OnRootMismatch', true],
  ];
  for (const [name, top, policy, isWalked] of rows) {
    test(name, async () => {
      const { clock, walked, walk, give } = world(top);
      const giving = give({ policy });
      await clock.settle();
      walk.end?.();
      await giving;
      assert.equal(walked.length, isWalked ? 1 : 0);
    });
  }
});
