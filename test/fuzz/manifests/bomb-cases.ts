import type { Dice } from '../../simulation/dice.ts';
import { testImage } from '../../../src/testing/pods.ts';
import type { Made } from './case.ts';
import type { Mapping, Tree } from './tree.ts';
import { settingsObject, settingsName, validPod, type PodTree } from './valid-pods.ts';

const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

/** One container with these variables. */
const withEnv = (dice: Dice, env: readonly Tree[], more: Mapping = {}): PodTree => {
  const pod = validPod(dice, false);
  pod.spec.containers = [{ name: 'c', image: testImage, env: [...env], ...more }];
  pod.spec['volumes'] = [];
  pod.spec['initContainers'] = undefined;
  return pod;
};

/** References that stand for more than they take to write. */
export function expansionCase(dice: Dice): Made {
  const twice = (at: number): string => `$(V${at - 1})`.repeat(2);
  const pods: readonly (() => PodTree)[] = [
    () =>
      withEnv(
        dice,
        times(dice.pick([5, 12, 18, 40, 200]), (at) => ({
          name: `V${at}`,
          value: at === 0 ? 'x'.repeat(10) : twice(at),
        })),
      ),
    () =>
      withEnv(
        dice,
        times(30, (at) => ({ name: `V${at}`, value: at === 0 ? 'x'.repeat(1_000) : `$(V${at - 1})`.repeat(10) })),
      ),
    () => withEnv(dice, [{ name: 'A', value: 'x'.repeat(50_000) }], { args: times(200, () => '$(A)$(A)') }),
    () =>
      withEnv(dice, [
        { name: 'A', value: '$(A)' },
        { name: 'B', value: '$(B)$(A)$(C)' },
        { name: 'C', value: '$(B)' },
      ]),
    () => withEnv(dice, [{ name: 'A', value: '$('.repeat(dice.pick([1_000, 100_000])) }]),
    () => withEnv(dice, [{ name: 'A', value: `${'$'.repeat(dice.pick([1_000, 100_001]))}(A)` }]),
    () =>
      withEnv(dice, [{ name: 'A', value: 'y' }], {
        command: [
          '$(A)'.repeat(10_000),
          '$(',
          '$)',
          '$(A',
          '$()',
          '$( A)',
          '$(A))',
          '$$(A)',
          '$$$(A)',
          '$(__proto__)',
          '$(constructor)',
          '$(toString)',
        ],
      }),
    () =>
      withEnv(dice, [...times(12, (at) => ({ name: `V${at}`, value: at === 0 ? 'd/' : twice(at) }))], {
        volumeMounts: [
          {
            name: 'v',
            mountPath: '/v',
            subPathExpr: dice.pick(['$(V11)', '$(V3)/../..', '../$(V0)', '$(NONE)', '$(V0)', '$(__proto__)']),
          },
        ],
      }),
  ];
  const pod = dice.pick(pods)();
  pod.spec['volumes'] = [{ name: 'v', emptyDir: {} }];
  return { trees: [pod] };
}

/** More of everything than anybody needs. */
export function hugeCase(dice: Dice): Made {
  const pod = validPod(dice, false);
  const { spec } = pod;
  const many = dice.pick([100, 500, 2_000]);
  const container = (name: string): Mapping => ({ name, image: testImage });
  const lists: readonly (() => void)[] = [
    () => (spec.containers = times(dice.pick([20, 60]), (at) => container(`c${at}`))),
    () =>
      (spec['initContainers'] = times(dice.pick([10, 30]), (at) => ({
        ...container(`i${at}`),
        restartPolicy: 'Always',
      }))),
    () => (spec.containers = [{ ...container('c'), env: times(many, (at) => ({ name: `E${at}`, value: 'v' })) }]),
    () =>
      (spec.containers = [
        { ...container('c'), ports: times(many, (at) => ({ containerPort: at + 1, hostPort: at + 1 })) },
      ]),
    () => (spec.containers = [{ ...container('c'), args: times(many * 10, () => 'a') }]),
    () => (spec['volumes'] = times(many, (at) => ({ name: `v${at}`, emptyDir: {} }))),
    () => (spec['volumes'] = times(many, () => ({ name: 'same', emptyDir: {} }))),
    () => (spec['tolerations'] = times(many, (at) => ({ key: `t${at}`, operator: 'Exists' }))),
    () =>
      (spec['hostAliases'] = times(many, (at) => ({
        ip: '192.0.2.1',
        hostnames: times(10, (n) => `h${at}-${n}.example`),
      }))),
    () => (spec['nodeSelector'] = Object.fromEntries(times(many, (at) => [`k${at}`, 'v']))),
    () => (spec['imagePullSecrets'] = times(many, (at) => ({ name: `s${at}` }))),
    () =>
      (spec['dnsConfig'] = {
        searches: times(many, (at) => `s${at}.example`),
        nameservers: times(many, () => '192.0.2.1'),
      }),
    () => (pod.metadata['labels'] = Object.fromEntries(times(many, (at) => [`l${at}`, 'v']))),
    () => (pod.metadata['annotations'] = Object.fromEntries(times(many, (at) => [`a${at}`, 'v'.repeat(100)]))),
    () => (pod.metadata['finalizers'] = times(many, (at) => `example.com/f${at}`)),
    () =>
      (pod.metadata['ownerReferences'] = times(many, (at) => ({
        apiVersion: 'v1',
        kind: 'X',
        name: `o${at}`,
        uid: `${at}`,
      }))),
    () => (spec['readinessGates'] = times(many, (at) => ({ conditionType: `example.com/g${at}` }))),
    () =>
      (spec['topologySpreadConstraints'] = times(many, () => ({
        maxSkew: 1,
        topologyKey: 'a',
        whenUnsatisfiable: 'DoNotSchedule',
      }))),
    () =>
      (spec['securityContext'] = {
        supplementalGroups: times(many, (at) => at),
        sysctls: times(many, (at) => ({ name: `net.x.y${at}`, value: '1' })),
      }),
    () =>
      (spec['volumes'] = [
        {
          name: 'p',
          projected: {
            sources: times(many, (at) => ({
              downwardAPI: { items: [{ path: `f${at}`, fieldRef: { fieldPath: 'metadata.name' } }] },
            })),
          },
        },
      ]),
    () =>
      (spec['affinity'] = {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: times(many / 10, () => ({
              matchExpressions: times(5, (at) => ({
                key: `k${at}`,
                operator: 'In',
                values: times(10, (n) => `v${n}`),
              })),
            })),
          },
        },
      }),
  ];
  dice.pick(lists)();
  return { trees: [pod] };
}

/** Little text, and much that comes of it through objects. */
export function amplifyCase(dice: Dice): Made {
  const big = settingsObject(
    Object.fromEntries(times(dice.pick([10, 50]), (at) => [`K${at}`, 'x'.repeat(dice.pick([100, 5_000]))])),
  );
  const pod = withEnv(dice, [], {
    envFrom: times(dice.pick([5, 50, 200]), (at) => ({ prefix: `P${at}_`, configMapRef: { name: settingsName } })),
  });
  pod.spec['volumes'] = times(dice.pick([1, 30]), (at) => ({
    name: `v${at}`,
    configMap: { name: settingsName, items: times(30, (n) => ({ key: `K${n % 10}`, path: `f${n}` })) },
  }));
  return { trees: [big, pod], world: 'folder' };
}
