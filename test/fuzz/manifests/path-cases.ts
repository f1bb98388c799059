import type { Dice } from '../../simulation/dice.ts';
import { testImage } from '../../../src/testing/pods.ts';
import type { Made } from './case.ts';
import { withKey, type Mapping, type Tree } from './tree.ts';
import { secretName, secretObject, settingsName, settingsObject, validPod, type PodTree } from './valid-pods.ts';
import { prototypeKeys, traversals } from './words.ts';

const hostilePath = (dice: Dice): string =>
  dice.chance(0.15) ? dice.pick(prototypeKeys) : `${dice.chance(0.3) ? '/mnt/' : ''}${dice.pick(traversals)}`;

/** A pod of which one path goes where it should not. */
export function pathCase(dice: Dice): Made {
  const pod = validPod(dice, false);
  const container: Mapping = { name: 'c', image: testImage };
  pod.spec.containers = [container];
  pod.spec['initContainers'] = undefined;
  const path = hostilePath(dice);
  const hostPath = (given: string, type: string): Mapping => ({ hostPath: { path: given, type } });
  const use = (source: Mapping, mount: Mapping = {}): void => {
    pod.spec['volumes'] = [{ name: 'v', ...source }];
    container['volumeMounts'] = [{ name: 'v', mountPath: '/mnt/v', ...mount }];
  };
  const downItem = { path, fieldRef: { fieldPath: 'metadata.name' } };
  const data: Mapping = { good: 'value' };
  withKey(data, path, 'hostile');
  const ways: readonly (() => void)[] = [
    () => use({ emptyDir: {} }, { mountPath: path }),
    () => use({ emptyDir: {} }, { subPath: path }),
    () => use({ emptyDir: {} }, { subPathExpr: path }),
    () => use(hostPath('/srv/fuzz', 'DirectoryOrCreate'), { subPath: path }),
    () => use(hostPath(path, dice.pick(['', 'Directory', 'DirectoryOrCreate', 'FileOrCreate', 'Socket', 'Nonsense']))),
    () => use({ configMap: { name: settingsName, items: [{ key: 'good', path }] } }),
    () => use({ configMap: { name: settingsName, items: [{ key: path, path: 'f' }], optional: dice.chance(0.5) } }),
    () => use({ configMap: { name: settingsName } }, { subPath: path }),
    () => use({ secret: { secretName, items: [{ key: 'good', path }] } }),
    () => use({ secret: { secretName: path } }),
    () => use({ downwardAPI: { items: [downItem] } }),
    () =>
      use({
        projected: {
          sources: [
            { downwardAPI: { items: [downItem] } },
            { configMap: { name: settingsName, items: [{ key: 'good', path }] } },
          ],
        },
      }),
    () => use({ projected: { sources: [{ serviceAccountToken: { path, expirationSeconds: 600 } }] } }),
    () => use({ downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath: `metadata.annotations['${path}']` } }] } }),
    () => use({ downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath: path } }] } }),
    () => use({ nfs: { server: path, path } }),
    () => use({ csi: { driver: path, volumeAttributes: { [path]: path } } }),
    () => use({ local: { path } }),
    () => use({ image: { reference: path } }),
    () => use({ persistentVolumeClaim: { claimName: path } }),
    () => use({ flexVolume: { driver: path } }),
    () => use({ gitRepo: { repository: path, directory: path } }),
    () => use({ hostPath: { path: '/srv/fuzz' } }, { mountPropagation: path, recursiveReadOnly: path }),
    () => withKey(container, 'terminationMessagePath', path),
    () => withKey(container, 'workingDir', path),
    () => withKey(container, 'name', path),
    () => withKey(container, 'image', path),
    () =>
      withKey(container, 'env', [
        { name: path, value: 'x' },
        { name: 'F', valueFrom: { fileKeyRef: { volumeName: 'v', path, key: path } } },
      ]),
    () => withKey(container, 'volumeDevices', [{ name: 'v', devicePath: path }]),
    () => withKey(pod.metadata, 'name', path),
    () => withKey(pod.metadata, 'namespace', path),
    () => withKey(pod.spec, 'hostname', path),
    () => withKey(pod.spec, 'subdomain', path),
    () => withKey(pod.spec, 'nodeName', path),
    () => withKey(pod.spec, 'runtimeClassName', path),
    () => withKey(pod.spec, 'volumes', [{ name: path, emptyDir: {} }]),
    () => withKey(pod.spec, 'securityContext', { seccompProfile: { type: 'Localhost', localhostProfile: path } }),
    () => withKey(container, 'securityContext', { appArmorProfile: { type: 'Localhost', localhostProfile: path } }),
    () =>
      withKey(container, 'livenessProbe', {
        httpGet: { path, port: 80, host: path, httpHeaders: [{ name: path, value: path }] },
      }),
    () => withKey(pod.spec, 'hostAliases', [{ ip: path, hostnames: [path] }]),
    () =>
      withKey(pod.spec, 'dnsConfig', { nameservers: [path], searches: [path], options: [{ name: path, value: path }] }),
  ];
  dice.pick(ways)();
  return { trees: [settingsObject(data), secretObject({ good: 'dmFsdWU=' }), pod] };
}

/** Who the pod says it is. `good` are the uids and names of pods that are there all the time. */
export function identityCase(dice: Dice): Made {
  const pod = (name: string, more: Mapping = {}): PodTree => {
    const made = validPod(dice, false);
    made.metadata = { name, namespace: 'default', ...more };
    return made;
  };
  const annotation = (key: string, value: string): PodTree => pod('marked', { annotations: { [key]: value } });
  const uids = [
    '../x',
    'uid-good',
    '',
    '.',
    '..',
    'a/b',
    'x'.repeat(300),
    'a b',
    'A_b',
    'constructor',
    '__proto__',
    '\0',
    '0',
  ];
  const ways: readonly (() => readonly Tree[])[] = [
    () => [pod('other', { uid: 'uid-good' })],
    () => [pod('other', { uid: dice.pick(uids) })],
    () => [pod('good')],
    () => [pod('good', { uid: 'uid-good' })],
    () => [pod('good-node-1'), pod('good-node-1', { uid: 'uid-else' })],
    () => [pod('same'), pod('same'), pod('same', { namespace: 'kube-system' })],
    () => [pod('one', { uid: 'uid-same' }), pod('two', { uid: 'uid-same' })],
    () => [annotation('kubernetes.io/config.mirror', dice.pick(['', 'x', 'uid-good']))],
    () => [annotation('kubernetes.io/config.source', dice.pick(['api', 'http', 'file', '']))],
    () => [annotation('kubernetes.io/config.hash', dice.pick(['uid-good', '', '../x']))],
    () => [annotation('kubernetes.io/config.seen', dice.pick(['', 'never', '9999-99-99', 'x'.repeat(5_000)]))],
    () => [
      annotation(
        'container.apparmor.security.beta.kubernetes.io/c0',
        dice.pick(['localhost/../../x', 'nonsense', 'unconfined']),
      ),
    ],
    () => [
      pod('leaving', {
        deletionTimestamp: '2025-01-01T00:00:00Z',
        deletionGracePeriodSeconds: dice.pick([0, -5, 2 ** 40]),
        finalizers: ['a/b'],
      }),
    ],
    () => [pod('dated', { creationTimestamp: dice.pick(['9999-12-31T23:59:59Z', '0001-01-01T00:00:00Z', 'never']) })],
    () => [
      {
        ...pod('ended'),
        status: {
          phase: dice.pick(['Succeeded', 'Failed', 'Running', 'constructor']),
          containerStatuses: [{ name: '__proto__', restartCount: -1 }],
        },
      },
    ],
    () => [pod('x'.repeat(dice.pick([63, 240, 253, 254]))), pod('UPPER'), pod('a..b'), pod('-a')],
  ];
  return { trees: dice.pick(ways)() };
}
