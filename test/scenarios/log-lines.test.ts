import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podFields, podListFields, podUidFields } from '../../src/model/pod-log.ts';
import { aPod } from '../../src/testing/pods.ts';
import { podUid } from '../../src/base/ids.ts';
import { AgentWorld } from '../support/agent-world.ts';
import { judgeWorld } from '../support/judged-logs.ts';

const pod = aPod({ name: 'web-node-1' });

/** What a line that some component might write is found guilty of, while the pod runs. */
async function verdictOn(write: (world: AgentWorld, containerId: string) => void): Promise<readonly string[]> {
  const world = new AgentWorld();
  await world.start();
  await world.manifests(pod);
  await world.clock.runUntil(() => world.isReady(), 60_000);
  assert.deepEqual(judgeWorld(world.agent), []);
  const [id = ''] = world.cri.state.containers.keys();
  write(world, id);
  const found = judgeWorld(world.agent);
  await world.stop();
  return found;
}

describe('a line of the log is refused', () => {
  const refused: Readonly<Record<string, (world: AgentWorld, id: string) => void>> = {
    'that has only the name in its message': ({ log }) => log.info('Something happened to default/web-node-1'),
    'that has the full name in a field': ({ log }) => log.info('Something happened', { to: 'web-node-1_default' }),
    'that has the uid in a path': ({ log }) => log.warn('Gone', { path: '/var/lib/kubelet/pods/uid-1/etc-hosts' }),
    'that has the uid in a folder of logs': ({ log }) =>
      log.warn('Gone', { path: '/var/log/pods/default_web-node-1_uid-1/a' }),
    'that has the uid in a cgroup': ({ log }) => log.warn('Gone', { cgroup: '/kubepods/poduid-1/a' }),
    'that has the uid in its error': ({ log }) => log.error(new Error('uid-1 is gone'), 'Gone'),
    'that has only the id of a container': ({ log }, id) => log.debug(4, 'Gone', { containerID: id }),
    'that speaks of a pod and names none': ({ log }) => log.debug(2, 'A pod is looked at'),
    'that names the pod by one text': ({ log }) => log.info('Gone', { pod: 'default/web-node-1', podUID: 'uid-1' }),
    'that spells the uid in its own way': ({ log }) => log.info('Gone', { ...podFields(pod), podUid: 'uid-1' }),
    'that spells the container in its own way': ({ log }, id) =>
      log.info('Gone', { ...podFields(pod), containerId: id }),
    'that lists pods by their full names': ({ log }) => log.info('Gone', { pods: ['web-node-1_default'] }),
    'that has its error under a word of its own': ({ log }) => log.info('Gone', { why: 'it had to' }),
    'that has an error anywhere else': ({ log }) => log.info('Gone', { because: new Error('x') }),
  };
  for (const [what, write] of Object.entries(refused)) {
    test(what, async () => assert.equal((await verdictOn(write)).length, 1));
  }
});

describe('a line of the log is fine', () => {
  const fine: Readonly<Record<string, (world: AgentWorld, id: string) => void>> = {
    'that names its pod': ({ log }, id) =>
      log.info('A container is gone', { ...podFields(pod), containerName: 'main', containerID: id }),
    'that knows only the uid': ({ log }) => log.info('A pod is gone', podUidFields(podUid('uid-1'))),
    'that lists pods': ({ log }) => log.info('Pods are gone', podListFields([pod])),
    'that has its error where errors are': ({ log }) => log.info('Gone', { err: new Error('x') }),
    'of a logger that names the pod in each line': ({ log }) => log.with(podFields(pod)).info('A pod is gone'),
    'about an image whose digest is as long as an id': ({ log }) =>
      log.info('Gone', { image: `example.org/a@sha256:${'0'.repeat(64)}` }),
  };
  for (const [what, write] of Object.entries(fine)) {
    test(what, async () => assert.deepEqual(await verdictOn(write), []));
  }
});
