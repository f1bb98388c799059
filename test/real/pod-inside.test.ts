import assert from 'node:assert/strict';
import { readlinkSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '../../src/gen/kubernetes/types.ts';
import { RealNode } from '../support/real-node.ts';
import { endedPod, podOf, saidBy, shell } from '../support/real-pods.ts';

/** What the containers of a pod share, and what only real programs can tell of it. All pods start at once. */
let node: RealNode;
before(async () => {
  node = await RealNode.start('inside');
  putSharing(node.image);
  await node.workingAgent();
});
after(() => node?.destroy());

const put = (name: string, spec: object): void => node.put(name, podOf(name, { restartPolicy: 'Never', ...spec }));
/** Waits for the end of a pod whose programs all do what they should. */
async function succeeded(name: string): Promise<Pod> {
  const pod = await endedPod(node, name);
  assert.equal(pod.status?.phase, 'Succeeded', JSON.stringify(pod.status));
  return pod;
}
const said = async (name: string, container: string): Promise<readonly string[]> =>
  saidBy(node, await succeeded(name), container);

function putSharing(image: string): void {
  const volumes = [{ name: 'data', emptyDir: {} }];
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  const seenMain = 'cat /proc/1/comm; while ! ps | grep -q "[s]leep 4242"; do sleep 0.1; done; echo seen > /data/seen';
  put('sharing', {
    shareProcessNamespace: true,
    volumes,
    containers: [
      shell(
        'writer',
        image,
        'echo word > /data/word; sleep 4242 & until [ -f /data/seen ]; do sleep 0.1; done; kill $!',
        {
          volumeMounts,
        },
      ),
      shell('reader', image, `until [ -s /data/word ]; do sleep 0.1; done; cat /data/word; ${seenMain}`, {
        volumeMounts,
      }),
      shell('mode', image, 'stat -c %a /data', { volumeMounts }),
    ],
  });
  put('host-network', { hostNetwork: true, containers: [shell('main', image, 'readlink /proc/self/ns/net')] });
  const terminal = 'for fd in 0 1; do if [ -t $fd ]; then echo terminal; else echo none; fi; done';
  put('alone', {
    containers: [
      shell('plain', image, `${terminal}; cat /proc/1/comm; readlink /proc/self/fd/0`),
      shell('tty', image, terminal, { tty: true, stdin: true }),
      shell('stdin', image, 'readlink /proc/self/fd/0', { stdin: true }),
    ],
  });
}

describe('the containers of a pod', () => {
  test('share emptyDir volumes, and processes where they shall', async () => {
    // The first process is that of the sandbox.
    assert.deepEqual(await said('sharing', 'reader'), ['word', 'catatonit']);
    assert.deepEqual(await said('sharing', 'mode'), ['777']);
  });

  test('are in the network of the machine where they shall be', async () => {
    assert.deepEqual(await said('host-network', 'main'), [readlinkSync('/proc/self/ns/net')]);
  });

  test('have processes of their own otherwise, and a terminal and an input only when they want one', async () => {
    assert.deepEqual(await said('alone', 'plain'), ['none', 'none', 'sh', '/dev/null']);
    assert.deepEqual(
      (await said('alone', 'tty')).map((line) => line.trim()),
      ['terminal', 'terminal'],
    );
    assert.match((await said('alone', 'stdin')).join(), /^pipe:/);
  });
});
