import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, PodSecurityContext, SecurityContext } from '../gen/kubernetes/types.ts';
import { desiredPod } from './desired-pod.ts';
import {
  appArmorChoice,
  effectiveSecurityContext,
  legacyAppArmor,
  procMountPaths,
  seccompChoice,
  verifyNonRoot,
  type ImageUser,
} from './security-context.ts';

const containerWith = (securityContext?: SecurityContext): Container => ({
  name: 'c',
  ...(securityContext && { securityContext }),
});

function podWith(securityContext: PodSecurityContext, annotations: Record<string, string> = {}) {
  const metadata = { uid: 'u', name: 'p', namespace: 'n', annotations };
  return desiredPod('api', { metadata, spec: { containers: [], securityContext } });
}

test('the container overrides the pod', () => {
  const pod = podWith({ runAsUser: 1, runAsGroup: 2, runAsNonRoot: true, seLinuxOptions: { level: 's0' } });
  assert.deepEqual(effectiveSecurityContext(pod, containerWith({ runAsUser: 5, privileged: true })), {
    runAsUser: 5,
    runAsGroup: 2,
    runAsNonRoot: true,
    seLinuxOptions: { level: 's0' },
    privileged: true,
  });
});

test('root where it is not wanted', () => {
  const where = '(pod: "p_n(u)", container: c)';
  const cases: readonly (readonly [SecurityContext, ImageUser, string | undefined])[] = [
    [{ runAsUser: 0 }, { uid: 1 }, `container's runAsUser breaks non-root policy ${where}`],
    [{ runAsUser: 7 }, { uid: 0 }, undefined],
    [{}, { uid: 7 }, undefined],
    [{}, { uid: 0 }, `container has runAsNonRoot and image will run as root ${where}`],
    [{}, {}, `container has runAsNonRoot and image will run as root ${where}`],
    [
      {},
      { name: 'www' },
      `container has runAsNonRoot and image has non-numeric user (www), cannot verify user is non-root ${where}`,
    ],
    [{ runAsNonRoot: false }, { uid: 0 }, undefined],
  ];
  for (const [context, image, message] of cases) {
    const verdict = verifyNonRoot(podWith({ runAsNonRoot: true }), containerWith(context), image);
    assert.equal(verdict?.refusal.message, message);
  }
});

test('seccomp: container, pod, then the default', () => {
  const options = { profileRoot: '/var/lib/kubelet/seccomp', defaultToRuntime: false };
  const none = podWith({});
  assert.deepEqual(seccompChoice(none, containerWith(), options), { type: 'Unconfined' });
  assert.deepEqual(seccompChoice(none, containerWith(), { ...options, defaultToRuntime: true }), {
    type: 'RuntimeDefault',
  });
  const pod = podWith({ seccompProfile: { type: 'RuntimeDefault' } });
  assert.deepEqual(seccompChoice(pod, containerWith(), options), { type: 'RuntimeDefault' });
  assert.deepEqual(seccompChoice(pod, containerWith({ seccompProfile: { type: 'Unconfined' } }), options), {
    type: 'Unconfined',
  });
  const local = (localhostProfile?: string) =>
    containerWith({
      seccompProfile: { type: 'Localhost', ...(localhostProfile !== undefined && { localhostProfile }) },
    });
  assert.deepEqual(seccompChoice(pod, local('a/b.json'), options), {
    type: 'Localhost',
    reference: '/var/lib/kubelet/seccomp/a/b.json',
  });
  assert.deepEqual(seccompChoice(pod, local('./a//b.json'), options), {
    type: 'Localhost',
    reference: '/var/lib/kubelet/seccomp/a/b.json',
  });
  assert.deepEqual(seccompChoice(pod, containerWith({ seccompProfile: { type: 'Strictest' } }), options), {
    refusal: { reason: 'CreateContainerConfigError', message: 'unknown seccomp profile type: "Strictest"' },
  });
  assert.ok('refusal' in seccompChoice(pod, local(), options));
  assert.ok('refusal' in seccompChoice(pod, local(''), options));
});

test('AppArmor: container, annotation, pod', () => {
  const key = 'container.apparmor.security.beta.kubernetes.io/c';
  const own = containerWith({ appArmorProfile: { type: 'Localhost', localhostProfile: 'mine' } });
  const pod = podWith({ appArmorProfile: { type: 'Unconfined' } }, { [key]: 'runtime/default' });
  assert.deepEqual(appArmorChoice(pod, own), { type: 'Localhost', reference: 'mine' });
  assert.deepEqual(appArmorChoice(pod, containerWith()), { type: 'RuntimeDefault' });
  assert.deepEqual(appArmorChoice(pod, { name: 'other' }), { type: 'Unconfined' });
  assert.deepEqual(appArmorChoice(podWith({}, { [key]: 'localhost/prof' }), containerWith()), {
    type: 'Localhost',
    reference: 'prof',
  });
  assert.equal(appArmorChoice(podWith({}), containerWith()), undefined);
  assert.equal(appArmorChoice(podWith({}, { [key]: '' }), containerWith()), undefined);
  assert.deepEqual(appArmorChoice(podWith({}, { [key]: 'runtime/strict' }), containerWith()), {
    refusal: { reason: 'CreateContainerConfigError', message: 'unknown apparmor profile type: "runtime/strict"' },
  });
});

test('the older notation', () => {
  assert.equal(legacyAppArmor({ type: 'RuntimeDefault' }), 'runtime/default');
  assert.equal(legacyAppArmor({ type: 'Unconfined' }), 'unconfined');
  assert.equal(legacyAppArmor({ type: 'Localhost', reference: 'p' }), 'localhost/p');
});

test('hidden paths', () => {
  assert.deepEqual(procMountPaths('Unmasked', ['/x']), { masked: [], readonly: [] });
  const { masked, readonly } = procMountPaths('Default', ['/sys/devices/system/cpu/cpu0/thermal_throttle']);
  assert.equal(masked.at(-1), '/sys/devices/system/cpu/cpu0/thermal_throttle');
  assert.equal(masked.length, 13);
  assert.equal(readonly.length, 5);
});
