import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '../../src/testing/pods.ts';
import { AgentWorld } from '../support/agent-world.ts';

test('a container that succeeds while the disk holds the agent up does not run again in the next sandbox', async () => {
  let slow = false;
  const it = new AgentWorld({
    overrides: ({ clock }) => ({
      diskWire: (files) => {
        const makeFolder = files.makeFolder.bind(files);
        files.makeFolder = async (path, mode) => {
          if (slow) await clock.sleep(5_000);
          return makeFolder(path, mode);
        };
        return files;
      },
    }),
  });
  const spec = { restartPolicy: 'OnFailure', containers: [aContainer('done'), aContainer('main')] };
  await it.start();
  await it.manifests(aPod({ spec }));
  assert.deepEqual(it.containers(), ['done#0 running', 'main#0 running']);

  slow = true;
  it.cri.killSandbox([...it.cri.state.sandboxes.keys()][0] ?? '');
  await it.clock.advance(1_000);
  it.cri.killContainer(it.cri.containerNamed('done')?.id ?? '', { code: 0 });
  await it.clock.advance(60_000);
  assert.deepEqual(it.containers(), ['done#0 exited', 'main#0 exited', 'main#1 running']);
  await it.stop();
});

const logs = '/var/log/pods/default_web-node-1_uid-1';

test('a pod that comes while the files of a former one of its uid are being removed keeps its own', async () => {
  const it = new AgentWorld({
    overrides: ({ clock }) => ({
      diskWire: (files) => {
        const removeTree = files.removeTree.bind(files);
        files.removeTree = async (path) => {
          await clock.sleep(5_000);
          return removeTree(path);
        };
        return files;
      },
    }),
  });
  await it.files.makeFolder('/var/lib/kubelet/pods/uid-1/volumes', 0o750);
  await it.files.makeFolder(`${logs}/main`, 0o755);
  await it.start();
  await it.clock.advance(1_000);
  await it.manifests(aPod());
  await it.clock.advance(60_000);
  assert.equal(it.phase(), 'Running');
  assert.ok(it.files.tree('/var/lib/kubelet/pods/uid-1').includes('644 etc-hosts'));
  assert.ok(it.files.tree(logs).includes('755 main'));
  await it.stop();
});
