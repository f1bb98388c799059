import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PersistentVolumeSpec, Volume } from '../gen/kubernetes/types.ts';
import { podPaths } from '../model/pod-paths.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryFiles } from '../testing/memory-files.ts';
import { memoryVolumeHost } from '../testing/memory-volume-host.ts';
import { persistentWorld } from '../testing/persistent-world.ts';
import { aContainer, aPod } from '../testing/pods.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import {
  configMap,
  downwardApi,
  emptyDir,
  noTokens,
  noTrust,
  projected,
  ScratchFolders,
  secret,
  WrittenVolumes,
} from './index.ts';

const never = new AbortController().signal;

/** The kinds that are made for one pod. */
async function made(volume: Volume): Promise<boolean> {
  const host = memoryVolumeHost(new MemoryFiles());
  const clock = new FakeClock();
  const scratch = new ScratchFolders(host, podPaths('/k', '/logs'));
  const memory = () => ({ allocatable: {}, noSwap: true });
  const events = { record: () => assert.fail('nothing to record') };
  const written = new WrittenVolumes({ clock, random: seededRandom(1), host, scratch, memory, events });
  const objects = { configMap: () => ({}), secret: () => ({}) };
  const facts = { node: { allocatable: {} }, nodeName: 'n1', hostIps: () => [] };
  const plugin = [
    emptyDir({ clock, scratch, paths: host.paths, memory, events }),
    configMap(written, objects),
    secret(written, objects),
    downwardApi(written, facts),
    projected({ written, objects, facts, tokens: noTokens, trust: noTrust }),
  ].find((each) => each.handles(volume));
  const pod = aPod({ spec: { containers: [aContainer('c', { resources: { limits: { 'hugepages-2Mi': '2Mi' } } })] } });
  return (await plugin?.setUp({ pod, volume }, never))?.selinuxRelabel === true;
}

/** Those of the node and of the cluster. */
async function found(volume: Volume, spec?: Partial<PersistentVolumeSpec>): Promise<boolean> {
  const { api, files, start } = persistentWorld();
  files.entries.set('/srv', { mode: 0o755 });
  if (spec !== undefined) api.put('data', spec);
  const volumeMounts = [{ name: volume.name, mountPath: '/v' }];
  const pod = aPod({ spec: { volumes: [volume], containers: [aContainer('c', { volumeMounts })] } });
  const manager = start();
  await manager.mount(pod, never);
  return manager.mounted(pod.uid).get(volume.name)?.selinuxRelabel === true;
}

/** What others have a say in too, a path of the node or of another machine, keeps the labels that it has. */
describe('volumes whose files get the label of the pod, where there is SELinux', () => {
  const claim = (readOnly = false): Volume => ({ name: 'v', persistentVolumeClaim: { claimName: 'data', readOnly } });
  const local = { local: { path: '/srv' } };
  const nfs = { server: 's', path: '/' };
  const rows: readonly (readonly [string, boolean, () => Promise<boolean>])[] = [
    ['emptyDir on disk', true, () => made({ name: 'v', emptyDir: {} })],
    ['emptyDir in memory', true, () => made({ name: 'v', emptyDir: { medium: 'Memory' } })],
    ['emptyDir in huge pages', true, () => made({ name: 'v', emptyDir: { medium: 'HugePages' } })],
    ['configMap', true, () => made({ name: 'v', configMap: { name: 'm' } })],
    ['secret', true, () => made({ name: 'v', secret: { secretName: 's' } })],
    ['downwardAPI', true, () => made({ name: 'v', downwardAPI: { items: [] } })],
    ['projected', true, () => made({ name: 'v', projected: { sources: [] } })],
    ['hostPath', false, () => found({ name: 'v', hostPath: { path: '/srv' } })],
    ['a claim to a hostPath', false, () => found(claim(), { hostPath: { path: '/srv' } })],
    ['local', true, () => found(claim(), local)],
    ['local, only read', false, () => found(claim(true), local)],
    ['nfs', false, () => found({ name: 'v', nfs })],
    ['a claim to nfs', false, () => found(claim(), { nfs })],
  ];
  for (const [name, expected, relabels] of rows) {
    test(`${name}: ${expected ? 'yes' : 'no'}`, async () => assert.equal(await relabels(), expected));
  }
});
