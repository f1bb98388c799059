import { describe } from 'node:test';
import type { Container } from '../../gen/kubernetes/types.ts';
import { check, type Given } from '../../testing/translate-pod.ts';

const variables = (...env: NonNullable<Container['env']>): Given => ({ main: { env } });
const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
const amount = (name: string, resource: string, divisor?: string, containerName?: string) => ({
  name,
  valueFrom: { resourceFieldRef: { resource, ...(divisor && { divisor }), ...(containerName && { containerName }) } },
});

describe('environment', () => {
  check(
    [
      [
        'a chain sees only what stands before it',
        variables({ name: 'C', value: '$(B)' }, { name: 'A', value: 'a' }, { name: 'B', value: '$(A)$(A)' }),
        { 'env C': '$(B)', 'env B': 'aa' },
      ],
      [
        'doubled signs are one, whatever follows',
        variables({ name: 'A', value: 'a' }, { name: 'B', value: '$$(A) $$$(A) $$$$(A) $ $x $(' }),
        { 'env B': '$(A) $a $$(A) $ $x $(' },
      ],
      [
        'a name twice: the last one counts and may use the first',
        variables({ name: 'A', value: 'a' }, { name: 'A', value: '$(A)b' }),
        { 'env A': 'ab' },
      ],
      ['an empty value is a value', variables({ name: 'A', value: '' }), { 'env A': '' }],
      ['services can be referred to', variables({ name: 'A', value: '$(WEB_SVC_SERVICE_PORT)' }), { 'env A': '80' }],
      [
        'the pod wins over services',
        variables({ name: 'WEB_SVC_SERVICE_PORT', value: '1' }),
        { 'env WEB_SVC_SERVICE_PORT': '1' },
      ],
      [
        'whole objects with a prefix, names as they are, later ones win',
        {
          main: {
            envFrom: [
              { prefix: 'P_', configMapRef: { name: 'cm' } },
              { configMapRef: { name: 'gone', optional: true } },
              { prefix: 'P_', secretRef: { name: 'sec' } },
            ],
            env: [{ name: 'P_alpha', value: '$(P_user)' }],
          },
        },
        { 'env P_1bad.key': 'x', 'env P_b.conf': 'two\n', 'env P_user': 'u', 'env P_alpha': 'u' },
      ],
      [
        'whole objects that are missing',
        { main: { envFrom: [{ secretRef: { name: 'gone' } }] } },
        { '': 'secret "gone" not found' },
      ],
      [
        'an optional key that is missing leaves nothing, not an empty text',
        variables(
          { name: 'A', value: 'before' },
          { name: 'A', valueFrom: { configMapKeyRef: { name: 'cm', key: 'none', optional: true } } },
          { name: 'B', valueFrom: { secretKeyRef: { name: 'gone', key: 'x', optional: true } } },
        ),
        { 'env A': 'before', 'env B': undefined },
      ],
      [
        'a key that is missing',
        variables({ name: 'A', valueFrom: { secretKeyRef: { name: 'sec', key: 'none' } } }),
        { '': "couldn't find key none in Secret {{namespace}}/sec" },
      ],
      [
        'values of objects are not expanded',
        { main: { envFrom: [{ configMapRef: { name: 'cm' } }], env: [{ name: 'X', value: '$(alpha)-$(b.conf)' }] } },
        { 'env X': 'one-two\n' },
      ],
      [
        'fields of the pod',
        variables(
          field('L', "metadata.labels['app']"),
          field('N', "metadata.labels['none']"),
          field('I', 'status.podIP'),
        ),
        { 'env L': 'a', 'env N': '', 'env I': '10.0.0.1' },
      ],
      [
        'fields on the network of the node',
        {
          ...variables(field('H', 'status.hostIP'), field('S', 'spec.serviceAccountName')),
          spec: { hostNetwork: true },
        },
        { 'env H': '192.0.2.1', 'env S': '' },
      ],
      [
        'amounts by divisor, rounded up; absent limits are the node’s',
        {
          main: {
            resources: { requests: { cpu: '1250m', memory: '100M' }, limits: { 'ephemeral-storage': '1' } },
            env: [
              amount('C', 'requests.cpu'),
              amount('CM', 'requests.cpu', '1m'),
              amount('M', 'requests.memory', '1Mi'),
              amount('LC', 'limits.cpu'),
              amount('LM', 'limits.memory', '1Gi'),
              amount('E', 'limits.ephemeral-storage'),
              amount('RE', 'requests.ephemeral-storage', '1k'),
            ],
          },
        },
        { 'env C': '2', 'env CM': '1250', 'env M': '96', 'env LC': '4', 'env LM': '7', 'env E': '1', 'env RE': '1' },
      ],
      [
        'amounts of another container',
        {
          ...variables(amount('A', 'limits.memory', '1Mi', 'side')),
          spec: {
            containers: [
              { name: 'main', env: [amount('A', 'limits.memory', '1Mi', 'side')] },
              { name: 'side', resources: { limits: { memory: '65Mi' } } },
            ],
          },
        },
        { 'env A': '65' },
      ],
      [
        'no services but the master',
        { spec: { enableServiceLinks: false } },
        { 'env WEB_SVC_PORT': undefined, 'env KUBERNETES_SERVICE_PORT': '443' },
      ],
    ],
    'container',
  );
});

describe('command and files', () => {
  check(
    [
      [
        'commands and arguments are expanded, the working directory is not',
        {
          main: {
            env: [{ name: 'A', value: 'x y' }],
            command: ['sh', '-c', 'echo $(A) $A $(NONE)'],
            args: ['$$(A)', '$(A)'],
            workingDir: '/w/$(A)',
          },
        },
        { command: ['sh', '-c', 'echo x y $A $(NONE)'], args: ['$(A)', 'x y'], workingDir: '/w/$(A)' },
      ],
      ['terminal', { main: { tty: true, stdin: true, stdinOnce: true } }, { tty: true, stdin: true, stdinOnce: true }],
      [
        'a termination message path of its own',
        { main: { terminationMessagePath: '/x/y', terminationMessagePolicy: 'FallbackToLogsOnError' } },
        {
          'annotation io.kubernetes.container.terminationMessagePath': '/x/y',
          'annotation io.kubernetes.container.terminationMessagePolicy': 'FallbackToLogsOnError',
          'annotation io.kubernetes.container.restartCount': '0',
          'annotation io.kubernetes.pod.terminationGracePeriod': '30',
          'annotation io.kubernetes.pod.deletionGracePeriod': undefined,
          'annotation io.kubernetes.container.ports': undefined,
        },
      ],
      [
        'mounts',
        {
          main: { volumeMounts: [{ name: 'v', mountPath: '/v', readOnly: true, mountPropagation: 'HostToContainer' }] },
        },
        {
          mounts: [
            { containerPath: '/v', hostPath: '/host/v', readonly: true, propagation: 'PROPAGATION_HOST_TO_CONTAINER' },
          ],
        },
      ],
      [
        'a part of a volume by the name of the pod',
        {
          main: {
            env: [field('N', 'metadata.name')],
            volumeMounts: [{ name: 'v', mountPath: '/v', subPathExpr: '$(N)/$(GONE)' }],
          },
        },
        { '': 'missing value for GONE' },
      ],
      [
        'a stop signal waits for its gate',
        { main: { lifecycle: { stopSignal: 'SIGUSR1' } }, spec: { os: { name: 'linux' } } },
        { stopSignal: undefined },
      ],
      [
        'a stop signal with its gate',
        {
          main: { lifecycle: { stopSignal: 'SIGRTMIN+2' } },
          settings: { featureGates: (name) => name === 'ContainerStopSignals' },
        },
        { stopSignal: 'SIGRTMINPLUS2' },
      ],
    ],
    'container',
  );
});
