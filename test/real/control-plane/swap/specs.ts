import { idle, shell } from '../../../support/real-pods.ts';
import { http, marked, mount, often, pagePath, serve, type Fields, type SwapWorld } from './parts.ts';

type Specs = Readonly<Record<string, Fields>>;

/** Specs of pods by the pods' names. */
export function swapSpecs(world: SwapWorld): Specs {
  return { ...probed(world), ...written(world), ...scratch(world), ...lives(world) };
}

function probed({ image }: SwapWorld): Specs {
  const exec = { exec: { command: marked }, ...often };
  return {
    'probe-exec': {
      containers: [
        shell('main', image, idle, {
          startupProbe: { ...exec, periodSeconds: 1 },
          readinessProbe: exec,
          livenessProbe: { ...exec, periodSeconds: 3 },
        }),
      ],
    },
    'probe-http': {
      hostname: 'inner',
      subdomain: 'front',
      containers: [
        shell('main', image, serve(8081), {
          ports: [
            { name: 'web', containerPort: 8081, protocol: 'TCP' },
            { containerPort: 9000, protocol: 'UDP' },
          ],
          readinessProbe: {
            httpGet: { path: pagePath, port: 'web', httpHeaders: [{ name: 'X-Who', value: 'kubelet' }] },
            ...often,
          },
          livenessProbe: { ...http(8081), ...often, initialDelaySeconds: 1 },
        }),
      ],
    },
    'probe-tcp': {
      containers: [
        shell('main', image, serve(8082), {
          readinessProbe: { tcpSocket: { port: 8082 }, ...often, successThreshold: 2 },
          livenessProbe: { tcpSocket: { port: 8082 }, ...often },
          startupProbe: { tcpSocket: { port: 8082 }, ...often, periodSeconds: 1, failureThreshold: 60 },
        }),
      ],
    },
  };
}

/** Volumes that agents write. */
function written({ image }: SwapWorld): Specs {
  const label = { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } };
  const cpu = { path: 'cpu', resourceFieldRef: { containerName: 'main', resource: 'requests.cpu', divisor: '1m' } };
  return {
    'config-map': {
      containers: [
        shell('main', image, idle, {
          env: [
            { name: 'COLOR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'color' } } },
            { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
            { name: 'BOTH', value: '$(COLOR)-$(FRONT_SERVICE_PORT)-$$' },
          ],
          envFrom: [{ prefix: 'ALL_', configMapRef: { name: 'still' } }],
          volumeMounts: [
            mount('whole'),
            mount('items', { readOnly: true }),
            mount('whole', { mountPath: '/part', subPath: 'color' }),
          ],
        }),
      ],
      volumes: [
        { name: 'whole', configMap: { name: 'settings' } },
        {
          name: 'items',
          configMap: { name: 'settings', defaultMode: 0o440, items: [{ key: 'color', path: 'x/y', mode: 0o400 }] },
        },
      ],
    },
    secret: {
      securityContext: {
        fsGroup: 3_000,
        runAsUser: 1_000,
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        shell('main', image, idle, {
          env: [{ name: 'PIN', valueFrom: { secretKeyRef: { name: 'keys', key: 'pin' } } }],
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          volumeMounts: [mount('keys')],
        }),
      ],
      volumes: [{ name: 'keys', secret: { secretName: 'keys', defaultMode: 0o400 } }],
    },
    projected: {
      containers: [
        shell('main', image, idle, {
          resources: { requests: { cpu: '20m', memory: '16Mi' }, limits: { memory: '64Mi' } },
          volumeMounts: [mount('all')],
        }),
      ],
      volumes: [
        {
          name: 'all',
          projected: {
            sources: [
              { serviceAccountToken: { path: 'token', audience: 'swap', expirationSeconds: 7_200 } },
              { configMap: { name: 'still' } },
              { secret: { name: 'keys', items: [{ key: 'user', path: 'who' }] } },
              { downwardAPI: { items: [label, cpu] } },
            ],
          },
        },
      ],
    },
    downward: {
      automountServiceAccountToken: false,
      containers: [
        shell('main', image, idle, {
          resources: { requests: { cpu: '20m', memory: '16Mi' }, limits: { cpu: '20m', memory: '16Mi' } },
          env: [
            { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
            { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
          ],
          volumeMounts: [mount('self')],
        }),
      ],
      volumes: [
        {
          name: 'self',
          downwardAPI: {
            items: [label, cpu, { path: 'notes', fieldRef: { fieldPath: 'metadata.annotations' }, mode: 0o440 }],
          },
        },
      ],
    },
  };
}

/** Volumes that containers write, and those of the machine. */
function scratch({ image, hostFolder }: SwapWorld): Specs {
  const fill = 'for f in /v/disk /v/ram; do echo word > $f/file; done';
  const every = [
    { name: 'disk', emptyDir: {} },
    { name: 'ram', emptyDir: { medium: 'Memory', sizeLimit: '8Mi' } },
    { name: 'settings', configMap: { name: 'settings' } },
    { name: 'keys', secret: { secretName: 'keys' } },
    { name: 'host', hostPath: { path: hostFolder, type: 'Directory' } },
    { name: 'made', hostPath: { path: `${hostFolder}/made/deep`, type: 'DirectoryOrCreate' } },
  ];
  return {
    'empty-dir': {
      securityContext: { fsGroup: 3_000 },
      containers: [shell('main', image, `${fill}; ${idle}`, { volumeMounts: [mount('disk'), mount('ram')] })],
      volumes: every.slice(0, 2),
    },
    'host-path': {
      containers: [shell('main', image, idle, { volumeMounts: [mount('host'), mount('made')] })],
      volumes: every.slice(4),
    },
    parts: {
      containers: [
        shell('main', image, idle, {
          env: [{ name: 'WHO', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
          volumeMounts: [
            mount('disk', { subPath: 'one/two' }),
            mount('disk', { mountPath: '/v/own', subPathExpr: 'of-$(WHO)' }),
            mount('keys', { mountPath: '/v/pin', subPath: 'pin' }),
          ],
        }),
      ],
      volumes: [every[0], every[3]],
    },
    /** Has everything, and goes in the middle of the test. */
    leaver: {
      containers: [
        shell('main', image, idle, {
          volumeMounts: [
            ...every.map(({ name }) => mount(name)),
            mount('disk', { mountPath: '/part', subPath: 'a/b' }),
          ],
        }),
      ],
      volumes: every,
    },
  };
}

function lives({ image }: SwapWorld): Specs {
  const data = { volumes: [{ name: 'data', emptyDir: {} }] };
  const volumeMounts = [mount('data')];
  return {
    sidecar: {
      ...data,
      initContainers: [
        shell('first', image, 'echo first > /v/data/first', { volumeMounts }),
        shell('beside', image, idle, {
          restartPolicy: 'Always',
          volumeMounts,
          startupProbe: { exec: { command: ['cat', '/v/data/first'] }, ...often, periodSeconds: 1 },
          readinessProbe: { exec: { command: marked }, ...often },
        }),
      ],
      containers: [shell('main', image, idle, { volumeMounts })],
    },
    prepared: {
      ...data,
      hostAliases: [{ ip: '198.51.100.7', hostnames: ['one.test', 'two.test'] }],
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['198.51.100.53'], searches: ['a.test'], options: [{ name: 'ndots', value: '2' }] },
      shareProcessNamespace: true,
      initContainers: ['one', 'two'].map((name) =>
        shell(name, image, `echo ${name} >> /v/data/steps`, { volumeMounts }),
      ),
      containers: [
        shell('main', image, idle, {
          volumeMounts,
          terminationMessagePath: '/tmp/final-flush',
          terminationMessagePolicy: 'FallbackToLogsOnError',
          workingDir: '/tmp',
          lifecycle: {
            postStart: { exec: { command: ['true'] } },
            preStop: { httpGet: { path: '/', port: 9, scheme: 'HTTP' } },
          },
        }),
        shell('second', image, idle, { tty: true, stdin: true, args: ['a', '$(HOME)'] }),
      ],
    },
    crash: { containers: [shell('main', image, 'echo word; echo last > /dev/termination-log; exit 3')] },
    'host-network': {
      hostNetwork: true,
      hostPID: true,
      hostIPC: true,
      dnsPolicy: 'ClusterFirstWithHostNet',
      containers: [shell('main', image, idle, { readinessProbe: { exec: { command: marked }, ...often } })],
    },
  };
}
