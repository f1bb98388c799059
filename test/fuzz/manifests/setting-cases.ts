import type { Dice } from '../../simulation/dice.ts';
import type { Made } from './case.ts';
import { withKey, type Mapping, type Tree } from './tree.ts';
import { validPod } from './valid-pods.ts';
import { hostileText, numbers, prototypeKeys, quantities } from './words.ts';

const int = (dice: Dice): Tree =>
  dice.chance(0.5) ? dice.pick([0, 1, 5, 2 ** 31 - 1, -1, -(2 ** 31)]) : dice.pick(numbers);
const word = (dice: Dice): string => (dice.chance(0.5) ? dice.pick(prototypeKeys) : hostileText(dice));
/** At a value that is sound about as often as not, the rest of the setting counts. */
const or = (dice: Dice, sound: Tree, hostile: Tree): Tree => (dice.chance(0.5) ? sound : hostile);

function handler(dice: Dice): Mapping {
  return dice.pick<() => Mapping>([
    () => ({ exec: { command: [or(dice, 'true', word(dice)), word(dice)] } }),
    () => ({ exec: {} }),
    () => ({
      httpGet: {
        port: or(dice, 80, int(dice)),
        path: or(dice, '/', word(dice)),
        host: or(dice, '', word(dice)),
        scheme: or(dice, 'HTTP', word(dice)),
        httpHeaders: [{ name: or(dice, 'X-A', word(dice)), value: word(dice) }],
      },
    }),
    () => ({ tcpSocket: { port: or(dice, 'http', word(dice)), host: word(dice) } }),
    () => ({ grpc: { port: int(dice), service: word(dice) } }),
    () => ({ sleep: { seconds: or(dice, 1, int(dice)) } }),
    () => ({ exec: { command: ['a'] }, httpGet: { port: 1 } }),
    () => ({}),
  ])();
}

const probe = (dice: Dice): Mapping => ({
  ...handler(dice),
  periodSeconds: or(dice, 1, int(dice)),
  timeoutSeconds: or(dice, 1, int(dice)),
  initialDelaySeconds: or(dice, 0, int(dice)),
  failureThreshold: or(dice, 3, int(dice)),
  successThreshold: or(dice, 1, int(dice)),
  terminationGracePeriodSeconds: or(dice, 1, int(dice)),
});

const amounts = (dice: Dice): Mapping => {
  const resource = (): string =>
    dice.pick([
      'cpu',
      'memory',
      'ephemeral-storage',
      'hugepages-2Mi',
      'hugepages-',
      'hugepages-1.5Gi',
      'example.com/gpu',
      ...prototypeKeys,
    ]);
  const made: Mapping = {};
  for (let at = dice.whole(1, 3); at > 0; at--)
    withKey(made, resource(), dice.chance(0.7) ? dice.pick(quantities) : int(dice));
  return made;
};

const security = (dice: Dice): Mapping => ({
  runAsUser: or(dice, 1000, int(dice)),
  runAsGroup: or(dice, 1000, int(dice)),
  runAsNonRoot: or(dice, undefined, true),
  privileged: or(dice, undefined, dice.chance(0.5)),
  allowPrivilegeEscalation: or(dice, undefined, false),
  procMount: or(dice, undefined, word(dice)),
  capabilities: or(dice, undefined, { add: [word(dice), 'ALL', ''], drop: [word(dice)] }),
  seLinuxOptions: or(dice, undefined, { level: word(dice), type: word(dice) }),
  seccompProfile: or(dice, undefined, {
    type: dice.pick(['Localhost', 'RuntimeDefault', 'Unconfined', 'X']),
    localhostProfile: word(dice),
  }),
});

/** Settings of a pod that are sound by their form and absurd, or just beyond what is allowed. */
export function settingCase(dice: Dice): Made {
  const pod = validPod(dice, false);
  const { spec } = pod;
  const container = spec.containers[0] as Mapping;
  const set = (key: string, value: Tree): void => withKey(spec, key, value);
  const ways: readonly (() => void)[] = [
    () => withKey(container, 'livenessProbe', probe(dice)),
    () => withKey(container, 'readinessProbe', probe(dice)),
    () => withKey(container, 'startupProbe', probe(dice)),
    () => withKey(container, 'lifecycle', { preStop: handler(dice), postStart: handler(dice), stopSignal: word(dice) }),
    () =>
      withKey(container, 'resources', {
        requests: amounts(dice),
        limits: amounts(dice),
        claims: or(dice, undefined, [{ name: word(dice) }]),
      }),
    () => withKey(container, 'resizePolicy', [{ resourceName: word(dice), restartPolicy: word(dice) }]),
    () =>
      withKey(container, 'restartPolicyRules', [
        { action: 'Restart', exitCodes: { operator: 'In', values: [int(dice)] } },
      ]),
    () => withKey(container, 'securityContext', security(dice)),
    () =>
      withKey(container, 'ports', [
        { name: word(dice), containerPort: int(dice), hostPort: int(dice), protocol: word(dice), hostIP: word(dice) },
      ]),
    () =>
      withKey(container, 'env', [
        { name: word(dice), value: 'x' },
        {
          name: 'F',
          valueFrom: {
            fieldRef: {
              fieldPath: dice.pick(['metadata.labels', `metadata.labels['${word(dice)}']`, 'status.podIP', word(dice)]),
            },
          },
        },
        {
          name: 'R',
          valueFrom: {
            resourceFieldRef: {
              resource: dice.pick(['limits.cpu', 'requests.hugepages-2Mi', word(dice)]),
              divisor: dice.pick(quantities),
            },
          },
        },
      ]),
    () =>
      set('securityContext', {
        ...security(dice),
        fsGroup: int(dice),
        supplementalGroups: [int(dice)],
        sysctls: [{ name: or(dice, 'kernel.shm_rmid_forced', word(dice)), value: word(dice) }],
        fsGroupChangePolicy: word(dice),
      }),
    () =>
      set('volumes', [
        {
          name: 'v',
          emptyDir: {
            sizeLimit: dice.pick(quantities),
            medium: dice.pick(['', 'Memory', 'HugePages', 'HugePages-2Mi', 'HugePages-', word(dice)]),
          },
        },
      ]),
    () => set('overhead', amounts(dice)),
    () => set('resources', { requests: amounts(dice), limits: amounts(dice) }),
    () => set('nodeSelector', { [word(dice)]: word(dice), 'kubernetes.io/hostname': word(dice) }),
    () =>
      set('affinity', {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  {
                    key: word(dice),
                    operator: dice.pick(['In', 'Gt', 'Lt', 'Exists', 'Nope']),
                    values: [word(dice), dice.pick(quantities)],
                  },
                ],
                matchFields: [{ key: or(dice, 'metadata.name', word(dice)), operator: 'In', values: ['node-1'] }],
              },
            ],
          },
        },
      }),
    () =>
      set('tolerations', [
        {
          key: word(dice),
          operator: or(dice, 'Exists', word(dice)),
          value: word(dice),
          effect: or(dice, 'NoExecute', word(dice)),
          tolerationSeconds: int(dice),
        },
      ]),
    () => set('hostname', word(dice)),
    () => set('hostnameOverride', word(dice)),
    () => set('priority', int(dice)),
    () => set('priorityClassName', word(dice)),
    () => set('activeDeadlineSeconds', int(dice)),
    () => set('terminationGracePeriodSeconds', int(dice)),
    () => set('restartPolicy', word(dice)),
    () => set('dnsPolicy', word(dice)),
    () => set('schedulerName', word(dice)),
    () => set('serviceAccountName', word(dice)),
    () => set('ephemeralContainers', [{ name: 'e', image: 'i', targetContainerName: word(dice) }]),
    () => set('os', { name: word(dice) }),
    () => set('runtimeClassName', word(dice)),
    () => (
      set('hostUsers', false),
      set('shareProcessNamespace', true),
      set('hostPID', dice.chance(0.5)),
      set('hostIPC', true)
    ),
    () => set('resourceClaims', [{ name: word(dice), resourceClaimName: word(dice) }]),
    () => set('schedulingGates', [{ name: word(dice) }]),
    () => (
      withKey(pod.metadata, 'labels', { [word(dice)]: word(dice) }),
      withKey(pod.metadata, 'annotations', { [word(dice)]: word(dice) })
    ),
  ];
  for (let at = dice.pick([1, 1, 2]); at > 0; at--) dice.pick(ways)();
  return { trees: [pod] };
}
