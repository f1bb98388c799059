import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { volumeHost } from '../../src/host/index.ts';
import { RealNode } from '../support/real-node.ts';
import { endedPod, SharedFolder, shell } from '../support/real-pods.ts';
import type { Program } from '../support/real-program.ts';
import { hostPath, look, mountPath, mountsAt, mountsIn, VolumePods, wordsIn } from '../support/real-volumes.ts';
import { until } from '../support/real-wait.ts';

/** How volumes are mounted into containers: parts of them, for reading alone, with what is mounted below. */
let node: RealNode;
let agent: Program;
let pods: VolumePods;
let folder: string;
/** A file system that is shared with all mount namespaces, which the machine's own need not be. */
let shared: string;
before(async () => {
  node = await RealNode.start('mounts');
  pods = new VolumePods(node, () => agent);
  folder = join(node.path, 'host');
  mkdirSync(join(folder, 'full/deep'), { recursive: true });
  writeFileSync(join(folder, 'file'), 'words');
  writeFileSync(join(folder, 'full/deep/word'), 'deep');
  symlinkSync('full', join(folder, 'link'));
  await mountShared();
  putParts();
  putRefusedParts();
  putReadOnly();
  agent = await node.workingAgent();
});
after(async () => {
  await node?.endAgents();
  if (shared !== undefined) await volumeHost.mounts.release(shared);
  await node?.destroy();
});

async function mountShared(): Promise<void> {
  shared = join(node.path, 'shared-mount');
  mkdirSync(shared);
  await volumeHost.mounts.mount('tmpfs', shared, ['size=1m']);
  execFileSync('mount', ['--make-shared', shared]);
  for (const name of ['below', 'late', 'theirs']) mkdirSync(join(shared, name));
  await volumeHost.mounts.mount('tmpfs', join(shared, 'below'), ['size=64k']);
}

function putParts(): void {
  const volumes = [{ name: 'v', emptyDir: {} }, hostPath('h', folder)];
  const env = [
    { name: 'ONE', value: 'first' },
    { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
  ];
  const first = shell(
    'first',
    node.image,
    [look('/a /b /c'), 'echo words > /b/kept', mountsAt('/a', '/f')].join('\n'),
    {
      env,
      volumeMounts: [
        { name: 'v', mountPath: '/a', subPath: 'one' },
        { name: 'v', mountPath: '/b', subPathExpr: '$(POD)/$(ONE)' },
        { name: 'v', mountPath: '/c', subPath: './one//two/', readOnly: true },
        { name: 'h', mountPath: '/f', subPath: 'file' },
      ],
    },
  );
  const second = shell(
    'main',
    node.image,
    ['cat /whole/parts-node-1/first/kept /deep/word; echo', 'ls /whole'].join('\n'),
    {
      volumeMounts: [
        { name: 'v', mountPath: '/whole' },
        // A link that stays in the volume is followed.
        { name: 'h', mountPath: '/deep', subPath: 'link/deep' },
      ],
    },
  );
  pods.put('parts', { volumes, initContainers: [first], containers: [second] });
}

function putRefusedParts(): void {
  const volumes = [{ name: 'v', emptyDir: {} }, hostPath('h', folder)];
  const wants = (name: string, mount: object, env: readonly object[] = []): void =>
    pods.putScript(name, ['true'], {
      volumes,
      container: { env, volumeMounts: [{ name: 'v', mountPath: '/m', ...mount }] },
    });
  wants('up', { subPath: '../up' });
  wants('absolute', { subPath: '/etc' });
  wants('expr-up', { subPathExpr: '$(WAY)/x' }, [{ name: 'WAY', value: '..' }]);
  wants('expr-absolute', { subPathExpr: '$(WAY)' }, [{ name: 'WAY', value: '/etc' }]);
  wants('expr-missing', { subPathExpr: '$(NOBODY)/x' });
  wants('too-long', { subPath: 'n'.repeat(256) });
  wants('through-file', { name: 'h', subPath: 'file/below' });
}

function putReadOnly(): void {
  const volumes = [hostPath('h', shared)];
  const script = 'touch /h/no 2>&1; touch /h/below/x 2>&1 && echo below';
  for (const mode of ['Disabled', 'IfPossible', 'Enabled']) {
    pods.putScript(`ro-${mode.toLowerCase()}`, [`${script}; true`, mountsAt('/h', '/h/below')], {
      volumes,
      container: { volumeMounts: [mountPath('h', { readOnly: true, recursiveReadOnly: mode })] },
    });
  }
}

describe('parts of volumes', () => {
  test('by names and by expressions; folders and files; links inside are followed', async () => {
    const first = await pods.said('parts', 'first');
    assert.deepEqual(wordsIn(first), ['777 0:0 /a', '777 0:0 /b', '777 0:0 /c']);
    assert.match(mountsIn(first).get('/a')?.root ?? '', /\/volumes\/kubernetes\.io~empty-dir\/v\/one$/);
    assert.match(mountsIn(first).get('/f')?.root ?? '', /\/host\/file$/);
    assert.deepEqual(await pods.said('parts'), ['words', 'deep', 'one', 'parts-node-1']);
  });

  test('that lead up, to nowhere, or through a file are refused', async () => {
    await pods.told(`subPath: Invalid value: "../up": must not contain '..'`);
    await pods.told('subPath: Invalid value: "/etc": must be a relative path');
    const refused = 'CreateContainerConfigError: ';
    assert.equal(
      await pods.refusal('expr-up'),
      `${refused}unable to provision SubPath \`$(WAY)/x\`: must not contain '..'`,
    );
    assert.equal(
      await pods.refusal('expr-absolute'),
      `${refused}error SubPath \`$(WAY)\` must not be an absolute path`,
    );
    assert.equal(await pods.refusal('expr-missing'), `${refused}missing value for NOBODY`);
    for (const name of ['too-long', 'through-file']) {
      assert.match(
        await pods.refusal(name),
        /: failed to create subPath directory for volumeMount "[vh]" of container "main"$/,
      );
    }
  });
});

describe('mounts below a path of the node', () => {
  test('stay writable where the runtime cannot make them read-only, and whoever insists is told', async () => {
    for (const name of ['ro-disabled', 'ro-ifpossible']) {
      const words = await pods.said(name);
      assert.deepEqual(wordsIn(words), ['touch: /h/no: Read-only file system', 'below'], name);
      const options = [...mountsIn(words).values()].map((mount) => mount.options[0]);
      assert.deepEqual(options, ['ro', 'rw'], name);
    }
    const why = 'volume "h" requested recursive read-only mode, but it is not supported by the runtime';
    assert.equal(
      await pods.refusal('ro-enabled'),
      `CreateContainerConfigError: failed to resolve recursive read-only mode: ${why}`,
    );
  });

  test('of the host appear in containers that listen, those of containers on the host where both do', async () => {
    const told = new SharedFolder(node, 'propagation');
    const until$ = (name: string): string => `while [ ! -e /shared/${name} ]; do sleep 0.05; done`;
    const volumes = [hostPath('h', shared), ...told.volumes];
    const container = (name: string, script: readonly string[], mount: object, more: object = {}): object =>
      shell(name, node.image, [mountsAt('/h'), ...script].join('\n'), {
        volumeMounts: [mountPath('h', mount), ...told.mounts.volumeMounts],
        env: [{ name: 'NAME', value: name }],
        ...more,
      });
    const ready = (name: string): string => `touch /shared/ready-${name}`;
    const looks = [
      until$('host-mounted'),
      'ls /h/late',
      until$('theirs-mounted'),
      'ls /h/theirs',
      'touch /shared/looked-$NAME',
    ];
    const both = [
      ready('both'),
      until$('host-mounted'),
      'ls /h/late',
      'mount -t tmpfs -o size=64k none /h/theirs && touch /h/theirs/by-container && touch /shared/theirs-mounted',
      until$('seen'),
      'umount /h/theirs',
    ];
    pods.put('propagation', {
      volumes,
      containers: [
        container('private', [ready('private'), ...looks], {}),
        container('listens', [ready('listens'), ...looks], { mountPropagation: 'HostToContainer' }),
        container('both', both, { mountPropagation: 'Bidirectional' }, { securityContext: { privileged: true } }),
      ],
    });
    await until('all are ready', () =>
      ['private', 'listens', 'both'].every((name) => existsSync(told.file(`ready-${name}`))),
    );
    await volumeHost.mounts.mount('tmpfs', join(shared, 'late'), ['size=64k']);
    writeFileSync(join(shared, 'late/by-host'), '');
    writeFileSync(told.file('host-mounted'), '');
    await until('the host sees it', () => existsSync(join(shared, 'theirs/by-container')));
    await until('the others have looked', () =>
      ['private', 'listens'].every((name) => existsSync(told.file(`looked-${name}`))),
    );
    writeFileSync(told.file('seen'), '');
    const pod = await endedPod(node, 'propagation');
    assert.equal(pod.status?.phase, 'Succeeded', JSON.stringify(pod.status));
    const seen = async (name: string) => {
      const words = await pods.said('propagation', name);
      return [
        ...(mountsIn(words).get('/h')?.optionalFields ?? []).map((field) => field.split(':')[0]),
        ...wordsIn(words),
      ];
    };
    assert.deepEqual(await seen('private'), []);
    assert.deepEqual(await seen('listens'), ['master', 'by-host', 'by-container']);
    assert.deepEqual(await seen('both'), ['shared', 'by-host']);
    assert.deepEqual(readdirSync(join(shared, 'theirs')), [], 'what the container mounted is gone again');
  });

  test('and Bidirectional is for privileged containers', async () => {
    pods.putScript('unprivileged', ['true'], {
      volumes: [hostPath('h', shared)],
      container: { volumeMounts: [mountPath('h', { mountPropagation: 'Bidirectional' })] },
    });
    await pods.told('mountPropagation: Forbidden: Bidirectional is for privileged containers only');
  });
});
