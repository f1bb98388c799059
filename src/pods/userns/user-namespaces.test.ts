import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import { podUid } from '../../base/ids.ts';
import { StatusResponse } from '../../gen/cri/api.ts';
import { podPaths } from '../../model/pod-paths.ts';
import { MemoryFiles } from '../../testing/memory-files.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { aPod } from '../../testing/pods.ts';
import type { IdSpaceResult } from './read-id-space.ts';
import { UserNamespaces } from './user-namespaces.ts';

const k64 = 65_536;
const never = new AbortController().signal;
const ownUsers = (uid: string) => aPod({ uid, spec: { hostUsers: false } });
const recordPath = (uid: string): string => `/var/lib/kubelet/pods/${uid}/userns`;
const record = (hostId: number, length = k64): string => {
  const mappings = [{ hostId, containerId: 0, length }];
  return JSON.stringify({ uidMappings: mappings, gidMappings: mappings });
};

/** A disk and a machine that outlive the keeper. */
function setUp() {
  const files = new MemoryFiles();
  const log = new MemoryLog();
  const machine = {
    enabled: true,
    handlers: ['', 'crun'],
    asked: 0,
    space: { space: { first: k64, end: 4 * k64, blockLength: k64 }, origin: 'default' } as IdSpaceResult,
    write: async (path: string, text: string): Promise<void> => files.writeFile(path, text, 0o600),
  };
  const keeper = async (): Promise<UserNamespaces> => {
    const made = new UserNamespaces({
      log,
      enabled: machine.enabled,
      paths: podPaths('/var/lib/kubelet', '/var/log/pods'),
      files: {
        list: (path) => files.list(path),
        readText: (path) => files.readText(path),
        replace: (path, text) => machine.write(path, text),
      },
      runtime: {
        status: async () =>
          StatusResponse.fromPartial({
            runtimeHandlers: [
              ...machine.handlers.map((name) => ({ name, features: { userNamespaces: true } })),
              { name: 'old', features: {} },
              { name: 'older' },
            ],
          }),
      },
      readSpace: async () => {
        machine.asked++;
        return machine.space;
      },
    });
    await made.start(never);
    return made;
  };
  const directory = (uid: string): Promise<void> => files.makeFolder(`/var/lib/kubelet/pods/${uid}`, 0o750);
  return { files, log, machine, keeper, directory };
}

async function withPods(...uids: readonly string[]) {
  const world = setUp();
  for (const uid of uids) await world.directory(uid);
  return world;
}

describe('a pod with users of its own', () => {
  test('has its ids recorded before the caller gets them', async () => {
    const { files, machine, keeper } = await withPods('a');
    const users = await keeper();
    const order: string[] = [];
    let finish = (): void => assert.fail('nothing is being written');
    const begun = new Promise<void>((begin) => {
      machine.write = async (path, text) => {
        await new Promise<void>((resolve) => {
          finish = resolve;
          begin();
        });
        await files.writeFile(path, text, 0o600);
        order.push('written');
      };
    });
    const given = users.blockFor(ownUsers('a'), '', never).finally(() => order.push('given'));
    await begun;
    await new Promise(setImmediate);
    finish();
    assert.deepEqual(await given, { hostId: k64, length: k64 });
    assert.deepEqual(order, ['written', 'given']);
    assert.equal(await files.readText(recordPath('a')), record(k64));
  });

  test('keeps them, and others get others', async () => {
    const { machine, keeper } = await withPods('a', 'b');
    const users = await keeper();
    const hostIds: (number | undefined)[] = [];
    for (const uid of ['a', 'b', 'a']) hostIds.push((await users.blockFor(ownUsers(uid), 'crun', never))?.hostId);
    assert.deepEqual(hostIds, [k64, 2 * k64, k64]);
    assert.equal(machine.asked, 1);
  });

  test('asks twice at once and gets one block', async () => {
    const { keeper } = await withPods('a', 'b');
    const users = await keeper();
    const given = await Promise.all(['a', 'a', 'b'].map((uid) => users.blockFor(ownUsers(uid), '', never)));
    assert.deepEqual(
      given.map((block) => block?.hostId),
      [k64, k64, 2 * k64],
    );
  });

  test('all are allocated: the next pod fails, until one is released', async () => {
    const { files, keeper } = await withPods('a', 'b', 'c', 'd');
    const users = await keeper();
    for (const uid of ['a', 'b', 'c']) await users.blockFor(ownUsers(uid), '', never);
    await assert.rejects(users.blockFor(ownUsers('d'), '', never), {
      kind: 'exhausted',
      message: 'no user namespace is left: pods have all blocks of the host ids 65536 to 262143',
    });
    assert.equal(files.has(recordPath('d')), false);
    users.release(podUid('b'));
    assert.equal((await users.blockFor(ownUsers('d'), '', never))?.hostId, 2 * k64);
  });

  test('pods that share the node’s users need nothing', async () => {
    const { files, machine, keeper } = await withPods('a');
    machine.handlers = [];
    const users = await keeper();
    assert.equal(await users.blockFor(aPod({ uid: 'a' }), '', never), undefined);
    assert.equal(await users.blockFor(aPod({ uid: 'a', spec: { hostUsers: true } }), '', never), undefined);
    assert.equal(files.has(recordPath('a')), false);
  });
});

describe('refused', () => {
  const table: readonly (readonly [string, string, string])[] = [
    ['a runtime without', '', "can't set `spec.hostUsers: false`, runtime does not support user namespaces"],
    ...['old', 'older', 'nobody'].map(
      (handler) =>
        [
          `handler ${handler}`,
          handler,
          `can't set \`spec.hostUsers: false\`, RuntimeClass handler "${handler}" does not support user namespaces`,
        ] as const,
    ),
  ];
  for (const [name, handler, message] of table) {
    test(name, async () => {
      const { files, machine, keeper } = await withPods('a');
      machine.handlers = [];
      const users = await keeper();
      await assert.rejects(users.blockFor(ownUsers('a'), handler, never), { kind: 'unsupported', message });
      assert.equal(files.has(recordPath('a')), false);
    });
  }

  test('a runtime that lost the feature, also to a pod that has its ids', async () => {
    const { machine, keeper } = await withPods('a');
    const users = await keeper();
    await users.blockFor(ownUsers('a'), '', never);
    machine.handlers = [];
    await assert.rejects(users.blockFor(ownUsers('a'), '', never), { kind: 'unsupported' });
  });

  test('with the gate off', async () => {
    const { machine, keeper } = await withPods('a');
    machine.enabled = false;
    const users = await keeper();
    await assert.rejects(users.blockFor(ownUsers('a'), '', never), {
      kind: 'unsupported',
      message: `the feature gate "UserNamespacesSupport" is disabled: can't set spec.HostUsers`,
    });
  });

  test('ids that are configured wrongly, until they are set right', async () => {
    const { machine, keeper } = await withPods('a');
    const right = machine.space;
    machine.space = { problem: 'the ranges differ' };
    const users = await keeper();
    await assert.rejects(users.blockFor(ownUsers('a'), '', never), {
      kind: 'invalid',
      message: 'user namespace: the ranges differ',
    });
    machine.space = right;
    assert.equal((await users.blockFor(ownUsers('a'), '', never))?.hostId, k64);
  });
});

describe('a record that cannot be written', () => {
  test('is no mapping, and the next try is for the same ids', async () => {
    const { files, machine, keeper } = await withPods('a', 'b');
    const users = await keeper();
    const { write } = machine;
    machine.write = async (path, text) => {
      // The worst of failures: it is there, and who wrote it does not know.
      await write(path, text);
      throw new TubeletError('exhausted', 'no space left on device');
    };
    await assert.rejects(users.blockFor(ownUsers('a'), '', never), /no space left/);
    machine.write = write;
    assert.equal((await users.blockFor(ownUsers('b'), '', never))?.hostId, 2 * k64);
    assert.equal((await users.blockFor(ownUsers('a'), '', never))?.hostId, k64);
    await files.removeTree(recordPath('a'));
    assert.equal((await users.blockFor(ownUsers('a'), '', never))?.hostId, k64);
    assert.equal(await files.readText(recordPath('a')), record(k64));
  });
});

describe('an agent that starts again', () => {
  test('reads the recorded blocks before it allocates more', async () => {
    const { files, machine, keeper } = await withPods('a', 'b', 'c');
    await files.writeFile(recordPath('b'), record(k64), 0o600);
    const users = await keeper();
    assert.equal(machine.asked, 0);
    assert.equal((await users.blockFor(ownUsers('a'), '', never))?.hostId, 2 * k64);
    assert.equal((await users.blockFor(ownUsers('b'), '', never))?.hostId, k64);
    users.release(podUid('b'));
    assert.equal((await users.blockFor(ownUsers('c'), '', never))?.hostId, k64);
  });

  test('with other ids configured: pods keep their blocks, and no other pod gets those', async () => {
    const { files, machine, keeper } = await withPods('a', 'b');
    await files.writeFile(recordPath('a'), record(3 * k64), 0o600);
    machine.space = { space: { first: 2 * k64, end: 8 * k64, blockLength: 2 * k64 }, origin: 'getsubids' };
    const users = await keeper();
    assert.deepEqual(await users.blockFor(ownUsers('b'), '', never), { hostId: 4 * k64, length: 2 * k64 });
    assert.deepEqual(await users.blockFor(ownUsers('a'), '', never), { hostId: 3 * k64, length: k64 });
  });

  test('a damaged record affects its own pod only', async () => {
    const { files, log, keeper } = await withPods('a', 'b');
    await files.writeFile(recordPath('a'), record(k64).slice(0, 20), 0o600);
    const users = await keeper();
    assert.deepEqual(
      log.entries.map(({ message, fields }) => [message, fields['podUID']]),
      [['Cannot restore the user namespace of a pod', 'a']],
    );
    assert.equal((await users.blockFor(ownUsers('b'), '', never))?.hostId, k64);
    await assert.rejects(users.blockFor(ownUsers('a'), '', never), {
      kind: 'invalid',
      message:
        /^user namespace: \/var\/lib\/kubelet\/pods\/a\/userns cannot be used: it is not JSON: .*; delete the pod to have it made anew$/,
    });
    // Removing the file has it made anew as well.
    await files.removeTree(recordPath('a'));
    assert.equal((await users.blockFor(ownUsers('a'), '', never))?.hostId, 2 * k64);
  });

  test('two records of the same ids: one pod has them, the other fails with its uid', async () => {
    const { files, keeper } = await withPods('a', 'b');
    for (const uid of ['b', 'a']) await files.writeFile(recordPath(uid), record(k64), 0o600);
    const users = await keeper();
    assert.equal((await users.blockFor(ownUsers('a'), '', never))?.hostId, k64);
    await assert.rejects(users.blockFor(ownUsers('b'), '', never), /the ids 65536 to 131071 belong to pod a; delete/);
  });
});
