import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AppArmorProfile } from '../../gen/kubernetes/types.ts';
import type { AppArmorSupport } from '../../model/admission-node.ts';
import { anAdmissionNode } from '../../testing/admission-node.ts';
import { aContainer, aPod, type PodOptions } from '../../testing/pods.ts';
import { appArmor } from './rules/app-armor.ts';
import { admitted, type PodAdmitResult } from './pod-admit-result.ts';

const off: AppArmorSupport = { enabled: false, reason: 'AppArmor is not enabled on the host' };
const on: AppArmorSupport = { enabled: true, reason: '' };
const loaded: AppArmorSupport = { ...on, profiles: new Set(['mine']) };

const forContainer = (appArmorProfile: AppArmorProfile): PodOptions => ({
  spec: { containers: [aContainer('c', { securityContext: { appArmorProfile } })] },
});
const forPod = (appArmorProfile: AppArmorProfile): PodOptions => ({ spec: { securityContext: { appArmorProfile } } });
const localhost = (localhostProfile: string): AppArmorProfile => ({ type: 'Localhost', localhostProfile });
const annotated = (value: string): PodOptions => ({
  metadata: { annotations: { 'container.apparmor.security.beta.kubernetes.io/main': value } },
});

const notEnabled = 'Cannot enforce AppArmor: AppArmor is not enabled on the host';
const cases: readonly [what: string, pod: PodOptions, support: AppArmorSupport, message?: string][] = [
  ['nothing asked for', {}, off],
  ['unconfined', forContainer({ type: 'Unconfined' }), off],
  ['runtime default', forContainer({ type: 'RuntimeDefault' }), off, notEnabled],
  ['runtime default, enabled', forContainer({ type: 'RuntimeDefault' }), on],
  ['for the whole pod', forPod({ type: 'RuntimeDefault' }), off, notEnabled],
  ['unconfined for the whole pod', forPod({ type: 'Unconfined' }), off],
  ['by annotation', annotated('runtime/default'), off, notEnabled],
  ['unconfined by annotation', annotated('unconfined'), off],
  [
    'in an init container',
    {
      spec: { initContainers: [aContainer('i', { securityContext: { appArmorProfile: localhost('mine') } })] },
    },
    off,
    notEnabled,
  ],
  ['loaded profile', forContainer(localhost('mine')), loaded],
  ['missing profile', forPod(localhost('theirs')), loaded, 'Cannot enforce AppArmor: profile "theirs" is not loaded'],
  ['missing profile, left to the runtime', forPod(localhost('theirs')), on],
  [
    'profile without a name',
    forContainer({ type: 'Localhost' }),
    on,
    'Cannot enforce AppArmor: invalid empty AppArmor profile name: ""',
  ],
  ['pod that ran before', { ...forPod({ type: 'RuntimeDefault' }), status: { phase: 'Running' } }, off],
  ['pending pod', { ...forPod({ type: 'RuntimeDefault' }), status: { phase: 'Pending' } }, off, notEnabled],
];

for (const [what, pod, support, message] of cases) {
  test(what, () => {
    const expected: PodAdmitResult = message === undefined ? admitted : { admit: false, reason: 'AppArmor', message };
    assert.deepEqual(appArmor({ pod: aPod(pod), active: [], node: anAdmissionNode({ appArmor: support }) }), expected);
  });
}
