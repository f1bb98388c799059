import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { containerId } from '../../base/ids.ts';
import { NamespaceMode } from '../../gen/cri/api.ts';
import type { Container, EphemeralContainer } from '../../gen/kubernetes/types.ts';
import { goldenLookup, goldenNode, goldenSettings } from '../../testing/golden.ts';
import { aContainer, anInstance, aPod, exited, type PodOptions } from '../../testing/pods.ts';
import { startOf } from './pod-actions.ts';
import type { Images } from './ports.ts';
import { computeRestartCount, prepareContainer } from './prepare-container.ts';

describe('restart count', () => {
  const of = (previous: ReturnType<typeof anInstance> | undefined, logged?: number) =>
    computeRestartCount(startOf(aContainer('main'), 'regular', previous, ''), logged);

  test('the first is 0', () => assert.equal(of(undefined), 0));
  test('one more than the instance before', () =>
    assert.equal(of(anInstance('main', { attempt: 4, ...exited(1) })), 5));
  test('one more than one that is being replaced', () => assert.equal(of(anInstance('main', { attempt: 4 })), 5));
  test('one more than one that the runtime lost', () =>
    assert.equal(of(anInstance('main', { attempt: 4, state: 'unknown' })), 5));
  test('the number of one that never started is used again', () =>
    assert.equal(of(anInstance('main', { attempt: 4, state: 'created' })), 4));
  test('where the runtime has none, one more than the logs', () => assert.equal(of(undefined, 6), 7));
  test('logs of the first instance count too', () => assert.equal(of(undefined, 0), 1));
  test('an instance in the runtime counts before the logs', () =>
    assert.equal(of(anInstance('main', { attempt: 2, ...exited(1) }), 9), 3));
});

interface Given {
  readonly pod?: PodOptions;
  readonly container?: Partial<Container & EphemeralContainer>;
  readonly image?: Awaited<ReturnType<Images['ensure']>>;
  readonly podIps?: readonly string[];
  readonly logged?: number;
  readonly recursiveReadOnly?: boolean;
  /** Why parts of volumes cannot be bound. */
  readonly unbindable?: string;
  /** The instances there are, by container name. */
  readonly instances?: Readonly<Record<string, string>>;
}

async function prepare(given: Given = {}) {
  const container: Container | EphemeralContainer = aContainer('main', given.container);
  const pod = aPod({ ...given.pod, spec: { containers: [container], ...given.pod?.spec } });
  const files: string[] = [];
  const folders: string[] = [];
  const asked: string[] = [];
  const run = prepareContainer({
    images: {
      async ensure(_pod, { name }, fieldPath) {
        asked.push(`${name} ${fieldPath}`);
        return given.image ?? { ok: { ref: 'sha256:1', user: {} } };
      },
    },
    volumes: { mounted: () => new Map([['data', { hostPath: '/pods/uid-1/data' }]]), extraGroups: () => [] },
    subPaths: {
      async bind(_uid, { container: name, subPath, target }) {
        if (given.unbindable !== undefined) throw new Error(given.unbindable);
        files.push(`bind ${name} ${subPath} ${target}`);
      },
    },
    files: {
      async writeHosts(uid, content) {
        files.push(`hosts ${uid}\n${content}`);
        return '/pods/uid-1/etc-hosts';
      },
      async makeContainerFolder(_uid, name) {
        folders.push(name);
      },
      async makeTerminationLog(_uid, name) {
        files.push(`message ${name}`);
        return `/pods/uid-1/containers/${name}/abcd`;
      },
      async prepareLogs(_pod, name) {
        files.push(`logs ${name}`);
        return given.logged;
      },
      readNodeHosts: async () => '127.0.0.1 localhost node\n',
    },
    lookup: goldenLookup(),
    settings: { ...goldenSettings, nodeName: 'node-1' },
    node: goldenNode(),
    hostIps: () => ['192.0.2.1'],
    recursiveReadOnly: () => given.recursiveReadOnly === true,
  });
  const newest = (name: string) => {
    const id = given.instances?.[name];
    return id === undefined ? undefined : containerId(id);
  };
  const start = startOf(container, 'regular', undefined, '');
  const prepared = await run(
    { pod, start, podIps: given.podIps ?? ['10.0.0.2'], fieldPath: 'spec.containers{main}', newest },
    new AbortController().signal,
  );
  return { prepared, files, folders, asked };
}

async function config(given: Given = {}) {
  const { prepared, files } = await prepare(given);
  if ('refusal' in prepared) assert.fail(prepared.refusal.message);
  return { config: prepared.ok, files };
}

describe('prepareContainer', () => {
  test('image, files and number come together in the request', async () => {
    const { config: made, files } = await config({ logged: 2 });
    assert.equal(made.image?.image, 'sha256:1');
    assert.equal(made.image?.userSpecifiedImage, 'localhost/test/busybox:1');
    assert.deepEqual(made.metadata, { name: 'main', attempt: 3 });
    assert.equal(made.logPath, 'main/3.log');
    assert.deepEqual(
      made.mounts.map(({ containerPath, hostPath }) => [containerPath, hostPath]),
      [
        ['/etc/hosts', '/pods/uid-1/etc-hosts'],
        ['/dev/termination-log', '/pods/uid-1/containers/main/abcd'],
      ],
    );
    assert.deepEqual(files.map((line) => line.replace(/\n.*$/s, '')).toSorted(), [
      'hosts uid-1',
      'logs main',
      'message main',
    ]);
  });

  const partOf = (subPath: string): Given => ({
    pod: { spec: { volumes: [{ name: 'data', emptyDir: {} }] } },
    container: { volumeMounts: [{ name: 'data', mountPath: '/data', subPath }] },
  });

  test('parts of volumes are bound before the container is asked for', async () => {
    const target = '{{rootDir}}/pods/uid-1/volume-subpaths/data/main/0';
    const { prepared, files } = await prepare(partOf('a/b'));
    assert.equal('ok' in prepared && prepared.ok.mounts.some(({ hostPath }) => hostPath === target), true);
    assert.ok(files.includes(`bind main a/b ${target}`));
  });

  test('a part that cannot be had is a refusal, and no file is left behind', async () => {
    const { prepared, files } = await prepare({ ...partOf('a'), unbindable: 'failed to prepare subPath' });
    assert.deepEqual(prepared, {
      refusal: { reason: 'CreateContainerConfigError', message: 'failed to prepare subPath' },
    });
    assert.deepEqual(files, []);
  });

  test('a mount that is impossible is refused before a file is made', async () => {
    const subPathExpr = [{ name: 'data', mountPath: '/d', subPathExpr: '$(NOPE)/x' }];
    const recursive = [{ name: 'data', mountPath: '/d', readOnly: true, recursiveReadOnly: 'Enabled' }];
    for (const volumeMounts of [subPathExpr, recursive]) {
      const { prepared, files, folders } = await prepare({ container: { volumeMounts } });
      assert.equal('refusal' in prepared && prepared.refusal.reason, 'CreateContainerConfigError');
      assert.deepEqual([files, folders], [[], []]);
    }
  });

  test('volumes are mounted from where they are on the host', async () => {
    const { config: made } = await config({
      pod: { spec: { volumes: [{ name: 'data', emptyDir: {} }] } },
      container: { volumeMounts: [{ name: 'data', mountPath: '/data' }] },
    });
    assert.equal(made.mounts.find(({ containerPath }) => containerPath === '/data')?.hostPath, '/pods/uid-1/data');
  });

  test('nothing is made before the image is there', async () => {
    const refusal = { reason: 'ErrImagePull', message: 'no registry', retryMs: 10_000 };
    const { prepared, files, asked } = await prepare({ image: { refusal } });
    assert.deepEqual(prepared, { refusal });
    assert.deepEqual(files, []);
    assert.deepEqual(asked, ['main spec.containers{main}']);
  });

  test('nothing is made for a container whose environment cannot be', async () => {
    const env = [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'nope', key: 'a' } } }];
    const { prepared, files } = await prepare({ container: { env } });
    assert.deepEqual(prepared, {
      refusal: { reason: 'CreateContainerConfigError', message: 'configmap "nope" not found' },
    });
    assert.deepEqual(files, []);
  });

  test('the hosts file has the addresses of the pod', async () => {
    const { files } = await config({ podIps: ['10.0.0.2', 'fd00::2'] });
    const hosts = files.find((line) => line.startsWith('hosts')) ?? '';
    assert.match(hosts, /^10\.0\.0\.2\tweb$/m);
    assert.match(hosts, /^fd00::2\tweb$/m);
  });

  test('on the host network the hosts file is that of the node, and the pod has its addresses', async () => {
    const env = [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }];
    const { config: made, files } = await config({
      pod: { spec: { hostNetwork: true } },
      container: { env },
      podIps: [],
    });
    assert.match(files.join('\n'), /127\.0\.0\.1 localhost node/);
    assert.equal(made.envs.find(({ key }) => key === 'IP')?.value.toString(), '192.0.2.1');
  });

  test('without addresses there is no hosts file', async () => {
    const { config: made, files } = await config({ podIps: [] });
    assert.equal(
      files.some((line) => line.startsWith('hosts')),
      false,
    );
    assert.equal(
      made.mounts.some(({ containerPath }) => containerPath === '/etc/hosts'),
      false,
    );
  });

  test('what may not run as root is refused before a file of its own is made', async () => {
    const { prepared, files, folders } = await prepare({ container: { securityContext: { runAsNonRoot: true } } });
    assert.match('refusal' in prepared ? prepared.refusal.message : '', /runAsNonRoot and image will run as root/);
    assert.deepEqual(
      files.map((file) => file.split('\n')[0]),
      ['hosts uid-1'],
    );
    assert.deepEqual(folders, ['main']);
  });

  test('an ephemeral container joins the processes of its target', async () => {
    const container = { targetContainerName: 'app' };
    const { config: made } = await config({ container, instances: { app: 'c-7' } });
    const { pid, targetId } = made.linux?.securityContext?.namespaceOptions ?? {};
    assert.deepEqual([pid, targetId], [NamespaceMode.TARGET, 'c-7']);
    const { prepared, files } = await prepare({ container });
    assert.deepEqual(prepared, {
      refusal: { reason: 'CreateContainerConfigError', message: 'unable to find target container app' },
    });
    assert.deepEqual(files, []);
  });

  test('mounts are read-only with all below them where the runtime can do that', async () => {
    const volumeMounts = [{ name: 'data', mountPath: '/d', readOnly: true, recursiveReadOnly: 'IfPossible' }];
    for (const recursiveReadOnly of [true, false]) {
      const { config: made } = await config({ container: { volumeMounts }, recursiveReadOnly });
      assert.equal(made.mounts[0]?.recursiveReadOnly, recursiveReadOnly);
    }
  });

  test('without a path for the termination message there is no file for it', async () => {
    const { files } = await config({ container: { terminationMessagePath: '' } });
    assert.equal(files.includes('message main'), false);
  });
});
