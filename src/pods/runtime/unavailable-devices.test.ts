import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceRequirements } from '../../gen/kubernetes/types.ts';
import { refuse } from '../../model/refusal.ts';
import { unavailableDevices } from './unavailable-devices.ts';

const longName = `v.io/${'g'.repeat(100_000)}`;
const node = { [longName]: '0', cpu: '0', 'v.io/gpu': '0', 'v.io/dongle': '2', 'x.kubernetes.io/y': '0' };
const gpus = refuse('devices of v.io/gpu cannot be given to containers by this kubelet');
const cases: Readonly<Record<string, readonly [resources: ResourceRequirements | undefined, expected: unknown]>> = {
  'nothing wanted': [undefined, undefined],
  'what is no device': [{ requests: { cpu: '1', 'x.kubernetes.io/y': '1' } }, undefined],
  'a device that the node has none of': [{ limits: { 'v.io/gpu': '1' }, requests: { 'v.io/gpu': '1' } }, gpus],
  'by its limit alone': [{ limits: { 'v.io/gpu': '1' } }, gpus],
  'none of it': [{ limits: { 'v.io/gpu': '0' } }, undefined],
  'a resource that the node counts': [{ limits: { 'v.io/dongle': '1' } }, undefined],
  'a resource of the cluster': [{ limits: { 'v.io/other': '1' } }, undefined],
  claims: [
    { claims: [{ name: 'a' }, { name: 'b' }] },
    refuse('resource claims (a, b) cannot be prepared by this kubelet'),
  ],
  'claims of very long names': [
    { claims: [{ name: 'a'.repeat(100_000) }, { name: 'b' }] },
    refuse(`resource claims (${'a'.repeat(1_024)}) cannot be prepared by this kubelet`),
  ],
  'a device of a very long name': [
    { limits: { [longName]: '1' } },
    refuse(`devices of ${longName.slice(0, 1_024)} cannot be given to containers by this kubelet`),
  ],
};

for (const [name, [resources, expected]] of Object.entries(cases)) {
  test(`devices of a container: ${name}`, () => {
    assert.deepEqual(unavailableDevices(resources === undefined ? {} : { resources }, node), expected);
  });
}
