import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NamespaceMode, SecurityProfile_ProfileType, Signal } from '../../gen/cri/api.ts';
import type { Container, PodSpec } from '../../gen/kubernetes/types.ts';
import { desiredPod } from '../../model/desired-pod.ts';
import { goldenNode, goldenSettings } from '../../testing/golden.ts';
import { computeContainerConfig, type ContainerConfigInput } from './compute-container-config.ts';

interface Changes {
  readonly container?: Partial<Container>;
  readonly spec?: Partial<PodSpec>;
  readonly input?: Partial<ContainerConfigInput>;
}

function compute({ container = {}, spec = {}, input = {} }: Changes) {
  const full: Container = { name: 'c', image: 'img', ...container };
  const pod = desiredPod('api', {
    metadata: { uid: 'u', name: 'p', namespace: 'n', deletionGracePeriodSeconds: 5 },
    spec: { containers: [full], securityContext: {}, ...spec },
  });
  return computeContainerConfig({
    pod,
    container: full,
    kind: 'regular',
    restartCount: 3,
    image: { ref: 'sha256:1', user: {} },
    podIps: ['10.0.0.1'],
    hostIps: ['192.0.2.1'],
    volumes: new Map(),
    env: [{ key: 'A', value: 'x' }],
    files: { etcHosts: '/hosts' },
    node: goldenNode(),
    settings: goldenSettings,
    ...input,
  });
}

function config(changes: Changes) {
  const made = compute(changes);
  if ('refusal' in made) assert.fail(made.refusal.message);
  return made;
}

test('command and arguments are expanded with the environment', () => {
  const { command, args } = config({ container: { command: ['run', '$(A)', '$(B)'], args: ['$$(A)'] } });
  assert.deepEqual(command, ['run', 'x', '$(B)']);
  assert.deepEqual(args, ['$(A)']);
});

test('annotations survive the pod: how to end it, what it listened on', () => {
  const container: Partial<Container> = {
    ports: [{ protocol: 'TCP', containerPort: 80, name: 'web' }],
    lifecycle: { preStop: { httpGet: { scheme: 'HTTP', port: 80, path: '/a?b&c' } } },
  };
  const { annotations } = config({
    container,
    input: { additions: { annotations: { extra: 'e', 'io.kubernetes.container.hash': 'forged' } } },
  });
  assert.equal(annotations['io.kubernetes.container.ports'], '[{"name":"web","containerPort":80,"protocol":"TCP"}]');
  assert.equal(
    annotations['io.kubernetes.container.preStopHandler'],
    '{"httpGet":{"path":"/a?b\\u0026c","port":80,"scheme":"HTTP"}}',
  );
  assert.equal(annotations['io.kubernetes.pod.deletionGracePeriod'], '5');
  assert.equal(annotations['io.kubernetes.container.restartCount'], '3');
  assert.equal(annotations['extra'], 'e');
  assert.notEqual(annotations['io.kubernetes.container.hash'], 'forged');
});

test('headers of a hook are written in one order', () => {
  const httpHeaders = [{ value: 'v', name: 'X-A' }];
  const { annotations } = config({ container: { lifecycle: { preStop: { httpGet: { port: 'web', httpHeaders } } } } });
  assert.equal(
    annotations['io.kubernetes.container.preStopHandler'],
    '{"httpGet":{"port":"web","httpHeaders":[{"name":"X-A","value":"v"}]}}',
  );
});

test('groups of volumes come last, and an unknown policy is refused', () => {
  const securityContext = { fsGroup: 1, supplementalGroups: [2] };
  const made = config({ spec: { securityContext }, input: { extraGroups: [900] } });
  assert.deepEqual(made.linux?.securityContext?.supplementalGroups, [1n, 2n, 900n]);
  assert.deepEqual(compute({ spec: { securityContext: { supplementalGroupsPolicy: 'Loose' } } }), {
    refusal: { reason: 'CreateContainerConfigError', message: 'unsupported supplementalGroupsPolicy: Loose' },
  });
});

test('the termination message path is absolute', () => {
  const { mounts } = config({
    container: { terminationMessagePath: 'tmp/last' },
    input: { files: { terminationLog: '/log' } },
  });
  assert.deepEqual(
    mounts.map(({ containerPath, hostPath }) => [containerPath, hostPath]),
    [['/tmp/last', '/log']],
  );
});

test('the user: asked for, a number of the image, a name of the image, root', () => {
  const user = (changes: Changes) => {
    const context = config(changes).linux?.securityContext;
    return [context?.runAsUser?.value, context?.runAsUsername];
  };
  assert.deepEqual(user({ spec: { securityContext: { runAsUser: 7 } } }), [7n, '']);
  assert.deepEqual(user({ input: { image: { ref: 'r', user: { uid: 9 } } } }), [9n, '']);
  assert.deepEqual(user({ input: { image: { ref: 'r', user: { name: 'www' } } } }), [undefined, 'www']);
  assert.deepEqual(user({}), [0n, '']);
});

test('AppArmor in both notations, no new privileges, unmasked paths', () => {
  const context = config({
    container: {
      securityContext: {
        appArmorProfile: { type: 'Localhost', localhostProfile: 'prof' },
        allowPrivilegeEscalation: false,
        procMount: 'Unmasked',
      },
    },
  }).linux?.securityContext;
  assert.deepEqual(context?.apparmor, { profileType: SecurityProfile_ProfileType.Localhost, localhostRef: 'prof' });
  assert.equal(context?.apparmorProfile, 'localhost/prof');
  assert.equal(context?.noNewPrivs, true);
  assert.deepEqual(context?.maskedPaths, []);
});

test('a pod with a user namespace maps its mounts as well', () => {
  const made = config({
    spec: { hostUsers: false },
    input: { userNamespace: { hostId: 65_536, length: 65_536 } },
  });
  assert.equal(made.linux?.securityContext?.namespaceOptions?.usernsOptions?.mode, NamespaceMode.POD);
  assert.deepEqual(made.mounts[0]?.uidMappings, [{ hostId: 65_536, containerId: 0, length: 65_536 }]);
});

test('an ephemeral container has the process namespace of its target', () => {
  const options = config({ input: { kind: 'ephemeral', targetContainerId: 'abc' } }).linux?.securityContext;
  assert.equal(options?.namespaceOptions?.pid, NamespaceMode.TARGET);
  assert.equal(options?.namespaceOptions?.targetId, 'abc');
});

test('additions of device plugins come with the container, their mounts first', () => {
  const mount = { ...config({}).mounts[0]!, containerPath: '/dev/extra' };
  const made = config({
    input: {
      additions: {
        devices: [{ hostPath: '/dev/a', containerPath: '/dev/a', permissions: 'rw' }],
        mounts: [mount],
        cdiDevices: ['vendor.example/gpu=0'],
      },
      pinned: { cpusetCpus: '2-3', cpusetMems: '0' },
    },
  });
  assert.deepEqual(
    made.mounts.map(({ containerPath }) => containerPath),
    ['/dev/extra', '/etc/hosts'],
  );
  assert.deepEqual(made.CDIDevices, [{ name: 'vendor.example/gpu=0' }]);
  assert.equal(made.devices[0]?.hostPath, '/dev/a');
  assert.equal(made.linux?.resources?.cpusetCpus, '2-3');
});

test('without an address there is no hosts file', () => {
  assert.deepEqual(config({ input: { podIps: [] } }).mounts, []);
  assert.equal(config({ spec: { hostNetwork: true }, input: { podIps: [] } }).mounts.length, 1);
});

test('a stop signal counts behind its gate', () => {
  const container: Partial<Container> = { lifecycle: { stopSignal: 'SIGRTMIN+3' } };
  assert.equal(config({ container }).stopSignal, Signal.RUNTIME_DEFAULT);
  const settings = { ...goldenSettings, featureGates: (name: string) => name === 'ContainerStopSignals' };
  assert.equal(config({ container, input: { settings } }).stopSignal, Signal.SIGRTMINPLUS3);
});

test('refusals', () => {
  const cases: readonly (readonly [Changes, RegExp])[] = [
    [{ container: { volumeMounts: [{ name: 'v', mountPath: '/v' }] } }, /cannot find volume "v"/],
    [{ container: { securityContext: { runAsNonRoot: true } } }, /image will run as root/],
    [{ container: { securityContext: { seccompProfile: { type: 'Localhost' } } } }, /localhostProfile must be set/],
    [{ container: { securityContext: { appArmorProfile: { type: 'Localhost' } } } }, /apparmor profile/],
  ];
  for (const [changes, message] of cases) {
    const made = compute(changes);
    assert.ok('refusal' in made);
    assert.equal(made.refusal.reason, 'CreateContainerConfigError');
    assert.match(made.refusal.message, message);
  }
});

test('a command that becomes more than a process can be given is refused', () => {
  const input = { env: [{ key: 'A', value: 'x'.repeat(1_024) }] };
  for (const container of [
    { command: ['$(A)'.repeat(4_096)] },
    { args: ['$(A)'.repeat(1_000), '$(A)'.repeat(2_000)] },
  ]) {
    const made = compute({ container, input });
    assert.ok('refusal' in made);
    assert.match(made.refusal.message, /more than 2097152 bytes/);
  }
});

test('what comes back with every list of the runtime is bounded', () => {
  const exec = { command: ['x'.repeat(20_000)] };
  const made = config({ container: { lifecycle: { preStop: { exec } }, ports: [{ containerPort: 80 }] } });
  const names = Object.keys(made.annotations).map((key) => key.replace('io.kubernetes.container.', ''));
  assert.ok(!names.includes('preStopHandler'), 'it is longer than 16 KiB');
  assert.ok(names.includes('ports'));
});
