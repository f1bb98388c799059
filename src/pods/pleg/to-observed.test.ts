import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  ContainerState,
  ContainerStatus,
  NamespaceMode,
  PodSandboxState,
  PodSandboxStatus,
  Signal,
} from '../../gen/cri/api.ts';
import { containerHashAnnotation, podUidLabel } from '../../model/labels.ts';
import { containerState, sandboxState, toObservedContainer, toObservedSandbox, uidOf } from './to-observed.ts';

const sandbox = (more: Parameters<typeof PodSandboxStatus.fromPartial>[0] = {}) =>
  toObservedSandbox(
    PodSandboxStatus.fromPartial({
      id: 's0',
      metadata: { name: 'web', namespace: 'default', uid: 'uid-1', attempt: 3 },
      state: PodSandboxState.SANDBOX_READY,
      createdAt: 1_700_000_000_123_456_789n,
      network: { ip: '10.0.0.2', additionalIps: [] },
      ...more,
    }),
  );

describe('sandbox', () => {
  test('in full', () => {
    assert.deepEqual(sandbox(), {
      id: 's0',
      attempt: 3,
      state: 'ready',
      createdAt: 1_700_000_000_123,
      ips: ['10.0.0.2'],
      network: 'pod',
      networkKnown: true,
    });
  });

  test('addresses: the primary one first, empty ones left out', () => {
    const ips = (ip: string, ...more: string[]) =>
      sandbox({ network: { ip, additionalIps: more.map((other) => ({ ip: other })) } }).ips;
    assert.deepEqual(ips('10.0.0.2', 'fd00::2'), ['10.0.0.2', 'fd00::2']);
    assert.deepEqual(ips('', 'fd00::2'), ['fd00::2']);
    assert.deepEqual(ips(''), []);
  });

  test('on the host network it has no addresses of its own', () => {
    const linux = { namespaces: { options: { network: NamespaceMode.NODE } } };
    const { network, ips } = sandbox({ linux, network: { ip: '192.0.2.1' } });
    assert.deepEqual({ network, ips }, { network: 'node', ips: [] });
  });

  test('a namespace of its own is the pod network', () => {
    const linux = { namespaces: { options: { network: NamespaceMode.POD, pid: NamespaceMode.NODE } } };
    assert.equal(sandbox({ linux }).network, 'pod');
  });

  test('without network status nothing is known of addresses', () => {
    const { networkKnown, ips } = toObservedSandbox(PodSandboxStatus.fromPartial({ id: 's0' }));
    assert.deepEqual({ networkKnown, ips }, { networkKnown: false, ips: [] });
  });

  test('a state from the future counts as not ready', () => {
    assert.equal(sandboxState(PodSandboxState.SANDBOX_READY), 'ready');
    assert.equal(sandboxState(PodSandboxState.SANDBOX_NOTREADY), 'notReady');
    assert.equal(sandboxState(9 as PodSandboxState), 'notReady');
  });
});

describe('container', () => {
  test('in full', () => {
    const status = ContainerStatus.fromPartial({
      id: 'c0',
      metadata: { name: 'main', attempt: 2 },
      state: ContainerState.CONTAINER_EXITED,
      createdAt: 1_000_000_000n,
      startedAt: 2_000_999_999n,
      finishedAt: 3_000_000_000n,
      exitCode: 7,
      image: { image: 'docker.io/library/busybox:1.36' },
      imageRef: 'sha256:abc',
      reason: 'Error',
      message: 'it broke',
      annotations: { [containerHashAnnotation]: '11a6d6d6', other: 'kept' },
      logPath: '/var/log/pods/a/main/2.log',
    });
    assert.deepEqual(toObservedContainer(status, 's0'), {
      id: 'c0',
      sandboxId: 's0',
      name: 'main',
      attempt: 2,
      state: 'exited',
      createdAt: 1_000,
      startedAt: 2_000,
      finishedAt: 3_000,
      exitCode: 7,
      reason: 'Error',
      message: 'it broke',
      image: 'docker.io/library/busybox:1.36',
      imageRef: 'sha256:abc',
      hash: '11a6d6d6',
      annotations: { [containerHashAnnotation]: '11a6d6d6', other: 'kept' },
      logPath: '/var/log/pods/a/main/2.log',
    });
  });

  test('fields that not every runtime reports', () => {
    const status = ContainerStatus.fromPartial({
      user: { linux: { uid: 1000n, gid: 2000n, supplementalGroups: [2000n, 3000n] } },
      stopSignal: Signal.SIGRTMINPLUS1,
      resources: { linux: { cpuShares: 102n, cpuQuota: 20_000n, cpuPeriod: 100_000n, memoryLimitInBytes: 64n } },
    });
    const { user, stopSignal, held } = toObservedContainer(status, 's0');
    assert.deepEqual(user, { uid: 1000, gid: 2000, supplementalGroups: [2000, 3000] });
    assert.equal(stopSignal, 'SIGRTMIN+1');
    assert.deepEqual(held, { cpuShares: 102n, cpuQuotaUs: 20_000n, cpuPeriodUs: 100_000n, memoryBytes: 64n });
    const silent = toObservedContainer(ContainerStatus.fromPartial({}), 's0');
    assert.equal('user' in silent || 'stopSignal' in silent || 'held' in silent, false);
  });

  test('what the runtime leaves out is empty', () => {
    const { name, attempt, image, hash, startedAt } = toObservedContainer(ContainerStatus.fromPartial({}), 's0');
    assert.deepEqual(
      { name, attempt, image, hash, startedAt },
      { name: '', attempt: 0, image: '', hash: '', startedAt: 0 },
    );
  });

  test('states', () => {
    assert.equal(containerState(ContainerState.CONTAINER_CREATED), 'created');
    assert.equal(containerState(ContainerState.CONTAINER_RUNNING), 'running');
    assert.equal(containerState(ContainerState.CONTAINER_EXITED), 'exited');
    assert.equal(containerState(ContainerState.CONTAINER_UNKNOWN), 'unknown');
    assert.equal(containerState(9 as ContainerState), 'unknown');
  });
});

test('the uid is that of the label; none for those without', () => {
  assert.equal(uidOf({ [podUidLabel]: 'uid-1' }), 'uid-1');
  assert.equal(uidOf({ [podUidLabel]: '' }), undefined);
  assert.equal(uidOf({ 'com.example/uid': 'uid-1' }), undefined);
});
