import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Node } from '../../../src/gen/kubernetes/types.ts';
import { connectCri } from '../../../src/cri/index.ts';
import { noCalls } from '../../../src/base/calls.ts';
import { silentLog } from '../../../src/base/log.ts';
import { handlers } from '../../../src/testing/runtimes/containerd-2.ts';
import { idle, podOf, shell } from '../../support/real-pods.ts';
import { clock, until } from '../../support/real-wait.ts';
import type { RuntimeName } from '../../support/runtime-under-test.ts';
import { ClusterView } from './cluster-view.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { prepareNode, type JoinedNode } from './join-node.ts';

/** What the Node says of a runtime that reports its handlers, and pods that choose one. */
let plane: ControlPlane;
before(async () => {
  plane = await startControlPlane();
});
after(() => plane?.stop());

const chosen = handlers[1];
const features = { recursiveReadOnlyMounts: true, userNamespaces: true };
const runtimes: readonly RuntimeName[] = ['containerd-2.4', 'cri-o'];

const runtimeClass = (name: string, handler: string): object => ({
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: { name },
  handler,
});

for (const runtime of runtimes) {
  describe(`handlers of ${runtime}`, () => {
    let node: JoinedNode;
    let self: Node;
    let view: ClusterView;
    before(async () => {
      node = await prepareNode(plane, { name: runtime.replaceAll('.', '-'), runtime });
      node.start('tubelet');
      self = await node.ready();
      view = new ClusterView(plane);
    });
    after(async () => {
      view?.close();
      await node?.destroy();
    });

    test('are in the status of the node, with their features', () => {
      // CRI-O has one of its own besides, whose program may be too old for any feature.
      const told = (self.status?.runtimeHandlers ?? [])
        .filter((handler) => handler.name !== 'crun')
        .toSorted((one, other) => ((one.name ?? '') < (other.name ?? '') ? -1 : 1));
      const named = ['', ...handlers].toSorted();
      assert.deepEqual(
        told.map((handler) => ({ name: handler.name ?? '', features: handler.features })),
        named.map((name) => ({ name, features })),
      );
      assert.deepEqual(self.status?.features, { supplementalGroupsPolicy: true });
    });

    test('are chosen by the class of a pod', async () => {
      const here = await view.namespace(`handlers-${node.name}`);
      const name = `class-${node.name}`;
      await here.apply(runtimeClass(name, chosen), runtimeClass(`${name}-lost`, 'nowhere'));
      const spec = {
        nodeName: node.name,
        terminationGracePeriodSeconds: 5,
        containers: [shell('main', node.image, idle)],
      };
      const metadata = { namespace: here.name };
      await here.apply(
        podOf('classed', { ...spec, runtimeClassName: name }, metadata),
        podOf('lost', { ...spec, runtimeClassName: `${name}-lost` }, metadata),
        podOf('plain', spec, metadata),
      );
      await Promise.all([here.podReady('classed'), here.podReady('plain')]);
      await until('the lost pod tells of its handler', async () =>
        (await here.eventsOf('lost')).some(
          ({ reason, message }) => reason === 'FailedCreatePodSandBox' && /nowhere/.test(message ?? ''),
        ),
      );
      const cri = connectCri({
        calls: noCalls,
        endpoint: node.runtime.endpoint,
        clock,
        log: silentLog,
        timeouts: { requestMs: 60_000 },
      });
      try {
        const { items } = await cri.listPodSandbox({ filter: undefined });
        const handlerOf = async (pod: string): Promise<string | undefined> => {
          const item = items.find(({ metadata: of }) => of?.name === pod && of.namespace === here.name);
          const asked = { podSandboxId: item?.id ?? '', verbose: false };
          return (await cri.podSandboxStatus(asked)).status?.runtimeHandler;
        };
        // CRI-O does not tell; that a class leads to its handler shows where the runtime has none of the name.
        assert.equal(await handlerOf('classed'), runtime === 'cri-o' ? '' : chosen);
        assert.ok(['', handlers[0]].includes((await handlerOf('plain')) ?? 'none'));
      } finally {
        cri.close();
      }
      await here.kubectl('delete', 'pod', '--all', '--wait=true');
      await until('nothing is left', async () => (await here.pods()).length === 0);
    });
  });
}
