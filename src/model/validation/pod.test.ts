import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Container, ObjectMeta, Pod, PodSpec, Volume } from '../../gen/kubernetes/types.ts';
import { decodeObject } from '../decode-object.ts';
import { defaultPod } from '../pod-defaults.ts';
import { validatePod, type PodRules } from './index.ts';

/** An API server accepted every recorded manifest: it was created through one. */
test('every golden manifest is right', () => {
  for (const file of readdirSync('test/golden/pods')) {
    const text = readFileSync(`test/golden/pods/${file}`, 'utf8').replace(/\{\{[A-Za-z]+\}\}/g, 'golden');
    const { manifest } = JSON.parse(text) as { readonly manifest: unknown };
    const { object, problems } = decodeObject('Pod', manifest, () => 1);
    assert.deepEqual(problems, [], file);
    const metadata = { ...object.metadata, namespace: 'golden' };
    assert.deepEqual(validatePod(defaultPod({ ...object, metadata })), [], file);
  }
});

function faultsOf(pod: { metadata?: ObjectMeta; spec?: object }, rules?: PodRules): string[] {
  const value = {
    metadata: { name: 'web', namespace: 'ns', ...pod.metadata },
    spec: { containers: [{ name: 'c', image: 'i' }], ...pod.spec },
  };
  const { object } = decodeObject('Pod', value, () => 1);
  return validatePod(defaultPod(object), rules).map((fault) => fault.message);
}
const inSpec = (spec: Partial<PodSpec>): string[] => faultsOf({ spec });
const inContainer = (container: Partial<Container>, spec: Partial<PodSpec> = {}): string[] =>
  faultsOf({ spec: { ...spec, containers: [{ name: 'c', image: 'i', ...container }] } });
const inVolume = (source: Omit<Volume, 'name'>): string[] =>
  faultsOf({ spec: { volumes: [{ name: 'v', ...source }] } });

/** The fault begins with this text; the rest is wording. */
function expectFaults(actual: readonly string[], ...expected: readonly string[]): void {
  const cut = actual.map((message, index) => message.slice(0, expected[index]?.length));
  assert.deepEqual(cut, expected, `all: ${actual.join('\n')}`);
}

test('a plain pod is right', () => expectFaults(faultsOf({})));

test('messages name path, class, value and remedy', () => {
  assert.deepEqual(inSpec({ containers: [{ name: 'X', image: '' }] }), [
    `spec.containers[0].name: Invalid value: "X": must be a DNS label: lower-case letters, digits and '-', beginning and ending with a letter or digit`,
    'spec.containers[0].image: Required value',
  ]);
  assert.deepEqual(inSpec({ restartPolicy: 'Sometimes' }), [
    'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"',
  ]);
});

test('metadata', () => {
  expectFaults(faultsOf({ metadata: { name: '' } }), 'metadata.name: Required value');
  expectFaults(faultsOf({ metadata: { name: 'A' } }), 'metadata.name: Invalid value: "A"');
  expectFaults(faultsOf({ metadata: { uid: '../x' } }), 'metadata.uid: Invalid value: "../x"');
  expectFaults(faultsOf({ metadata: { uid: '..' } }), 'metadata.uid: Invalid value: ".."');
  expectFaults(faultsOf({ metadata: { uid: '0f1e2d3c-ab12-4c5d-8e9f-001122334455' } }));
  expectFaults(faultsOf({ metadata: { namespace: 'a.b' } }), 'metadata.namespace: Invalid value: "a.b"');
  expectFaults(
    faultsOf({ metadata: { labels: { '-a': '-b' } } }),
    'metadata.labels[-a]: Invalid value: "-a"',
    'metadata.labels[-a]: Invalid value: "-b"',
  );
  expectFaults(faultsOf({ metadata: { annotations: { 'a b': '' } } }), 'metadata.annotations[a b]: Invalid value');
  expectFaults(faultsOf({ metadata: { annotations: { 'Example.com/A': '' } } }));
  expectFaults(faultsOf({ metadata: { annotations: { a: 'x'.repeat(262_143) } } }));
  expectFaults(
    faultsOf({ metadata: { annotations: { a: 'x'.repeat(262_144) } } }),
    'metadata.annotations: Invalid value',
  );
});

test('containers', () => {
  expectFaults(inSpec({ containers: [] }), 'spec.containers: Required value');
  expectFaults(
    inSpec({
      initContainers: [
        { name: 'c', image: 'i' },
        { name: '', image: ' i' },
      ],
    }),
    'spec.initContainers[0].name: Duplicate value: "c"',
    'spec.initContainers[1].name: Required value',
    'spec.initContainers[1].image: Invalid value: " i"',
  );
  expectFaults(
    inContainer({ imagePullPolicy: 'x', terminationMessagePolicy: 'y' }),
    'spec.containers[0].imagePullPolicy: Unsupported value: "x"',
    'spec.containers[0].terminationMessagePolicy: Unsupported value: "y"',
  );
  expectFaults(
    inSpec({ ephemeralContainers: [{ name: 'e', image: 'i' }] }),
    'spec.ephemeralContainers: Forbidden: cannot be set on create',
  );
});

test('restart policies of containers', () => {
  const init = (container: Partial<Container>, rules?: PodRules): string[] =>
    faultsOf({ spec: { initContainers: [{ name: 'a', image: 'i', ...container }] } }, rules);
  expectFaults(init({ restartPolicy: 'Always', livenessProbe: { exec: { command: ['x'] } } }));
  expectFaults(init({ restartPolicy: 'Never' }), 'spec.initContainers[0].restartPolicy: Unsupported value: "Never"');
  expectFaults(init({ lifecycle: {} }), 'spec.initContainers[0].lifecycle: Forbidden');
  expectFaults(inContainer({ restartPolicy: 'Never' }), 'spec.containers[0].restartPolicy: Forbidden');
  const gate = { containerRestartRules: true };
  expectFaults(init({ restartPolicy: 'Never' }, gate));
  const rule = { action: 'Restart', exitCodes: { operator: 'In', values: [1] } };
  expectFaults(
    init({ restartPolicyRules: [rule, { action: 'Dance' }] }, gate),
    'spec.initContainers[0].restartPolicy: Required value',
    'spec.initContainers[0].restartPolicyRules[1].action: Unsupported value: "Dance"',
    'spec.initContainers[0].restartPolicyRules[1].exitCodes: Required value',
  );
});

test('ports', () => {
  expectFaults(
    inContainer({
      ports: [
        { containerPort: 0 },
        { containerPort: 70_000, name: 'a' },
        { containerPort: 1, name: 'a', hostPort: -1 },
        { containerPort: 2, name: 'B', protocol: 'ICMP' },
      ],
    }),
    'spec.containers[0].ports[0].containerPort: Required value',
    'spec.containers[0].ports[1].containerPort: Invalid value: 70000',
    'spec.containers[0].ports[2].name: Duplicate value: "a"',
    'spec.containers[0].ports[2].hostPort: Invalid value: -1',
    'spec.containers[0].ports[3].name: Invalid value: "B"',
    'spec.containers[0].ports[3].protocol: Unsupported value: "ICMP"',
  );
  const port = { containerPort: 80, hostPort: 80 };
  const two = [
    { name: 'a', image: 'i', ports: [port] },
    { name: 'b', image: 'i', ports: [port, { ...port, protocol: 'UDP' }] },
  ];
  expectFaults(inSpec({ containers: two }), 'spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//80"');
  expectFaults(
    inContainer({ ports: [{ containerPort: 80, hostPort: 81 }] }, { hostNetwork: true }),
    'spec.containers[0].ports[0].hostPort: Invalid value: 81: must match',
  );
});

test('environment', () => {
  const field = (fieldPath: string): string[] =>
    inContainer({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath } } }] });
  expectFaults(field('status.podIPs'));
  expectFaults(field("metadata.labels['a.b/c']"));
  expectFaults(field("metadata.labels['-']"), 'spec.containers[0].env[0].valueFrom.fieldRef: Invalid value: "-"');
  expectFaults(field('metadata.labels'), 'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported value');
  expectFaults(field(''), 'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Required value');
  const resource = (name: string, divisor = '0'): string[] =>
    inContainer({ env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: name, divisor } } }] });
  expectFaults(resource('limits.cpu', '1m'));
  expectFaults(resource('requests.hugepages-2Mi', '1Mi'));
  expectFaults(
    resource('limits.cpu', '1k'),
    'spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: Unsupported value',
  );
  expectFaults(
    resource('limits.gpu'),
    'spec.containers[0].env[0].valueFrom.resourceFieldRef.resource: Unsupported value',
  );
  const secretKeyRef = { name: 's', key: 'k' };
  expectFaults(
    inContainer({
      env: [
        { name: '' },
        { name: 'A=' },
        { name: 'odd name.1', value: 'x' },
        { name: 'B', value: 'x', valueFrom: { secretKeyRef } },
        { name: 'C', valueFrom: {} },
        { name: 'D', valueFrom: { secretKeyRef, configMapKeyRef: { name: 'C', key: '' } } },
        { name: 'E', valueFrom: { fileKeyRef: { volumeName: 'none', path: '/x', key: 'k' } } },
      ],
      envFrom: [{}, { prefix: '=', secretRef: { name: '' } }],
    }),
    'spec.containers[0].env[0].name: Required value',
    'spec.containers[0].env[1].name: Invalid value: "A="',
    'spec.containers[0].env[3].valueFrom: Invalid value: "": may not be specified when',
    'spec.containers[0].env[4].valueFrom: Invalid value: "": must name one source',
    'spec.containers[0].env[5].valueFrom.configMapKeyRef.name: Invalid value: "C"',
    'spec.containers[0].env[5].valueFrom.configMapKeyRef.key: Required value',
    'spec.containers[0].env[5].valueFrom: Invalid value: "": may not have more than one',
    'spec.containers[0].env[6].valueFrom.fileKeyRef.path: Invalid value: "/x"',
    'spec.containers[0].env[6].valueFrom.fileKeyRef.volumeName: Not found: "none"',
    'spec.containers[0].envFrom[0]: Invalid value: "": must specify one of',
    'spec.containers[0].envFrom[1].prefix: Invalid value: "="',
    'spec.containers[0].envFrom[1].secretRef.name: Required value',
  );
});

test('mounts', () => {
  const volumes = [{ name: 'v' }, { name: 'img', image: { reference: 'a:1' } }];
  const mounts = (...volumeMounts: NonNullable<Container['volumeMounts']>): string[] =>
    inContainer({ volumeMounts }, { volumes });
  expectFaults(mounts({ name: 'v', mountPath: '/a', subPath: 'x/y' }, { name: 'v', mountPath: '/b' }));
  expectFaults(
    mounts(
      { name: 'w', mountPath: '/a' },
      { name: 'v', mountPath: '/a' },
      { name: '', mountPath: '' },
      { name: 'v', mountPath: '/c', subPath: '../x' },
      { name: 'v', mountPath: '/d', subPath: '/x', subPathExpr: 'y' },
      { name: 'img', mountPath: '/e', subPath: 'x' },
      { name: 'v', mountPath: '/f', mountPropagation: 'Bidirectional' },
      { name: 'v', mountPath: '/g', recursiveReadOnly: 'Enabled' },
    ),
    'spec.containers[0].volumeMounts[0].name: Not found: "w"',
    'spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/a": must be unique',
    'spec.containers[0].volumeMounts[2].name: Required value',
    'spec.containers[0].volumeMounts[2].mountPath: Required value',
    `spec.containers[0].volumeMounts[3].subPath: Invalid value: "../x": must not contain '..'`,
    'spec.containers[0].volumeMounts[4].subPath: Invalid value: "/x": must be a relative path',
    'spec.containers[0].volumeMounts[4].subPathExpr: Invalid value: "y"',
    'spec.containers[0].volumeMounts[5].subPath: Invalid value: "x": not allowed',
    'spec.containers[0].volumeMounts[6].mountPropagation: Forbidden',
    'spec.containers[0].volumeMounts[7].recursiveReadOnly: Forbidden',
  );
  expectFaults(
    inContainer({ volumeDevices: [{ name: 'v', devicePath: '/dev/x' }] }, { volumes }),
    'spec.containers[0].volumeDevices[0].name: Invalid value: "v": a block device needs',
  );
});

test('volumes', () => {
  expectFaults(
    inSpec({ volumes: [{ name: 'v' }, { name: 'v' }, { name: 'V_' }, { name: '' }] }),
    'spec.volumes[1].name: Duplicate value: "v"',
    'spec.volumes[2].name: Invalid value: "V_"',
    'spec.volumes[3].name: Required value',
  );
  expectFaults(
    inVolume({ emptyDir: {}, hostPath: { path: '/a' } }),
    'spec.volumes[0].hostPath: Forbidden: may not specify more',
  );
  expectFaults(inVolume({ hostPath: { path: '' } }), 'spec.volumes[0].hostPath.path: Required value');
  expectFaults(
    inVolume({ hostPath: { path: '/a/../b', type: 'Pipe' } }),
    'spec.volumes[0].hostPath.path: Invalid value',
    'spec.volumes[0].hostPath.type: Unsupported value: "Pipe"',
  );
  expectFaults(inVolume({ emptyDir: { sizeLimit: '-1' } }), 'spec.volumes[0].emptyDir.sizeLimit: Invalid value: "-1"');
  expectFaults(
    inVolume({ secret: { secretName: 's', defaultMode: 512, items: [{ key: '', path: '..x', mode: -1 }] } }),
    'spec.volumes[0].secret.defaultMode: Invalid value: 512',
    'spec.volumes[0].secret.items[0].key: Required value',
    'spec.volumes[0].secret.items[0].path: Invalid value: "..x"',
    'spec.volumes[0].secret.items[0].mode: Invalid value: -1',
  );
  expectFaults(
    inVolume({ downwardAPI: { items: [{ path: 'a' }, { path: 'b', resourceFieldRef: { resource: 'limits.cpu' } }] } }),
    'spec.volumes[0].downwardAPI.items[0]: Required value: one of',
    'spec.volumes[0].downwardAPI.items[1].resourceFieldRef.containerName: Required value',
  );
  const twice = { path: 'p', fieldRef: { fieldPath: 'metadata.name' } };
  expectFaults(
    inVolume({ projected: { sources: [{ downwardAPI: { items: [twice, twice] } }, {}, { secret: {} }] } }),
    'spec.volumes[0].projected.sources[0].downwardAPI.items[1].path: Invalid value: "p": conflicting',
    'spec.volumes[0].projected.sources[1]: Required value',
    'spec.volumes[0].projected.sources[2].secret.name: Required value',
  );
  expectFaults(
    inVolume({ nfs: { server: '', path: 'x' } }),
    'spec.volumes[0].nfs.server: Required',
    'spec.volumes[0].nfs.path: Invalid',
  );
});

test('probes and hooks', () => {
  const probe = (livenessProbe: Container['livenessProbe'] & object): string[] => inContainer({ livenessProbe });
  expectFaults(probe({}), 'spec.containers[0].livenessProbe: Required value: must specify a handler type');
  expectFaults(
    probe({
      exec: {},
      tcpSocket: { port: 1 },
      timeoutSeconds: -1,
      successThreshold: 2,
      terminationGracePeriodSeconds: 0,
    }),
    'spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1',
    'spec.containers[0].livenessProbe.exec.command: Required value',
    'spec.containers[0].livenessProbe.timeoutSeconds: Invalid value: -1',
    'spec.containers[0].livenessProbe.terminationGracePeriodSeconds: Invalid value: 0',
    'spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1',
  );
  expectFaults(
    probe({ httpGet: { port: 0, scheme: 'ftp', httpHeaders: [{ name: 'a b', value: '' }] } }),
    'spec.containers[0].livenessProbe.httpGet.port: Invalid value: 0',
    'spec.containers[0].livenessProbe.httpGet.scheme: Unsupported value: "ftp"',
    'spec.containers[0].livenessProbe.httpGet.httpHeaders[0].name: Invalid value: "a b"',
  );
  expectFaults(
    inContainer({ readinessProbe: { grpc: { port: 70_000 }, successThreshold: 5, terminationGracePeriodSeconds: 5 } }),
    'spec.containers[0].readinessProbe.grpc.port: Invalid value: 70000',
    'spec.containers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set',
  );
  expectFaults(
    inContainer({ lifecycle: { preStop: { sleep: { seconds: 31 } }, postStart: {}, stopSignal: 'SIGTERM' } }),
    'spec.containers[0].lifecycle.postStart: Required value',
    'spec.containers[0].lifecycle.preStop.sleep.seconds: Invalid value: 31',
    'spec.containers[0].lifecycle.stopSignal: Forbidden',
  );
  const signal = (stopSignal: string): string[] =>
    inContainer({ lifecycle: { stopSignal } }, { os: { name: 'linux' } });
  expectFaults(signal('SIGRTMAX-14'));
  expectFaults(signal('SIGRTMIN+16'), 'spec.containers[0].lifecycle.stopSignal: Unsupported value');
});

test('resources', () => {
  const resources = (value: Container['resources'] & object): string[] => inContainer({ resources: value });
  expectFaults(
    resources({ limits: { cpu: '1', memory: '-1', gpu: '1' }, requests: { cpu: '2', 'example.com/x': '1' } }),
    'spec.containers[0].resources.limits[memory]: Invalid value: "-1": must be greater than or equal to 0',
    'spec.containers[0].resources.limits[gpu]: Invalid value: "gpu"',
    // Requests are defaulted from the limits, faults included.
    'spec.containers[0].resources.requests[memory]: Invalid value: "-1"',
    'spec.containers[0].resources.requests[gpu]: Invalid value: "gpu"',
    'spec.containers[0].resources.requests[cpu]: Invalid value: "2": must be less than or equal to cpu limit of 1',
    'spec.containers[0].resources.limits[example.com/x]: Required value',
  );
  expectFaults(
    resources({ limits: { 'hugepages-2Mi': '2Mi' }, requests: { 'hugepages-2Mi': '4Mi' } }),
    'spec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: "4Mi": must be equal to',
    'spec.containers[0].resources: Forbidden: huge pages',
  );
  expectFaults(
    resources({ limits: { 'example.com/x': '500m' } }),
    'spec.containers[0].resources.limits[example.com/x]',
    'spec',
  );
  expectFaults(
    resources({ claims: [{ name: 'none' }] }),
    'spec.containers[0].resources.claims[0].name: Not found: "none"',
  );
  const podLevel = { requests: { cpu: '1' }, limits: { cpu: '2', 'example.com/x': '1' } };
  expectFaults(
    inContainer({ resources: { requests: { cpu: '2' }, limits: { cpu: '3' } } }, { resources: podLevel }),
    'spec.resources.limits[example.com/x]: Invalid value',
    'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2',
    'spec.containers[0].resources.limits[cpu]: Invalid value: "3": must be less than or equal to pod limits of 2',
  );
  expectFaults(
    inContainer(
      {
        resizePolicy: [
          { resourceName: 'cpu', restartPolicy: 'RestartContainer' },
          { resourceName: 'cpu', restartPolicy: '' },
        ],
      },
      { restartPolicy: 'Never' },
    ),
    'spec.containers[0].resizePolicy[0].restartPolicy: Invalid value',
    'spec.containers[0].resizePolicy[1]: Duplicate value: "cpu"',
    'spec.containers[0].resizePolicy[1].restartPolicy: Required value',
  );
});

test('security', () => {
  expectFaults(
    inSpec({
      shareProcessNamespace: true,
      hostPID: true,
      hostUsers: false,
      securityContext: {
        fsGroup: -1,
        runAsUser: 2 ** 31,
        supplementalGroups: [0, -2],
        fsGroupChangePolicy: 'x',
        seccompProfile: { type: 'Localhost' },
        appArmorProfile: { type: 'Localhost', localhostProfile: ' a' },
        sysctls: [
          { name: 'A', value: '' },
          { name: 'a', value: '' },
          { name: 'a', value: '' },
        ],
      },
    }),
    'spec.securityContext.fsGroup: Invalid value: -1',
    'spec.securityContext.runAsUser: Invalid value: 2147483648',
    'spec.securityContext.supplementalGroups[1]: Invalid value: -2',
    'spec.securityContext.fsGroupChangePolicy: Unsupported value: "x"',
    'spec.securityContext.seccompProfile.localhostProfile: Required value',
    'spec.securityContext.appArmorProfile.localhostProfile: Invalid value: " a"',
    'spec.securityContext.sysctls[0].name: Invalid value: "A"',
    'spec.securityContext.sysctls[2].name: Duplicate value: "a"',
    'spec.shareProcessNamespace: Invalid value: true',
    'spec.hostPID: Forbidden',
  );
  expectFaults(
    inContainer({
      securityContext: {
        privileged: true,
        allowPrivilegeEscalation: false,
        capabilities: { add: ['CAP_SYS_ADMIN'] },
        runAsGroup: -1,
        procMount: 'Unmasked',
        seccompProfile: { type: 'RuntimeDefault', localhostProfile: 'x' },
      },
    }),
    'spec.containers[0].securityContext.runAsGroup: Invalid value: -1',
    'spec.containers[0].securityContext.procMount: Invalid value: "Unmasked"',
    'spec.containers[0].securityContext.seccompProfile.localhostProfile: Invalid value: "x"',
    'spec.containers[0].securityContext.allowPrivilegeEscalation: Invalid value: false: cannot be false while `privileged`',
    'spec.containers[0].securityContext.allowPrivilegeEscalation: Invalid value: false: cannot be false while the cap',
  );
});

test('network', () => {
  expectFaults(inSpec({ dnsPolicy: 'None' }), 'spec.dnsConfig: Required value');
  expectFaults(
    inSpec({ dnsPolicy: 'None', dnsConfig: { searches: ['a'] } }),
    'spec.dnsConfig.nameservers: Required value',
  );
  expectFaults(inSpec({ dnsPolicy: 'None', dnsConfig: { nameservers: ['::1'], searches: ['.', '_a.b.'] } }));
  expectFaults(
    inSpec({
      dnsPolicy: 'x',
      dnsConfig: { nameservers: ['1.1.1.1', 'a', '2.2.2.2', '3.3.3.3'], searches: ['A'], options: [{ value: '1' }] },
      hostname: 'a.b',
      subdomain: 'B',
      hostnameOverride: 'a'.repeat(65),
      hostAliases: [{ ip: 'x', hostnames: ['ok', 'N'] }],
    }),
    'spec.dnsPolicy: Unsupported value: "x"',
    'spec.dnsConfig.nameservers: Invalid value',
    'spec.dnsConfig.nameservers[1]: Invalid value: "a"',
    'spec.dnsConfig.searches[0]: Invalid value: "A"',
    // `options` are a list here, not a map of the user's own keys.
    'spec.dnsConfig.options[0].name: Required value',
    'spec.hostname: Invalid value: "a.b"',
    'spec.subdomain: Invalid value: "B"',
    'spec.hostnameOverride: Invalid value',
    'spec.hostAliases[0].ip: Invalid value: "x"',
    'spec.hostAliases[0].hostnames[1]: Invalid value: "N"',
  );
});

test('scheduling', () => {
  expectFaults(
    inSpec({
      tolerations: [
        { operator: 'Exists' },
        {},
        { key: 'a', operator: 'Exists', value: 'x', effect: 'Never' },
        { key: '-', value: '-', tolerationSeconds: 1 },
        { key: 'a', operator: 'Like' },
      ],
      nodeSelector: { a: '-' },
      priorityClassName: 'A',
      preemptionPolicy: 'x',
      nodeName: 'n',
      schedulingGates: [{ name: 'g' }],
      topologySpreadConstraints: [{ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'x' }],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: 'a', operator: 'In' },
                  { key: 'a', operator: 'Is' },
                ],
              },
            ],
          },
        },
      },
    }),
    'spec.nodeSelector[a]: Invalid value: "-"',
    'spec.tolerations[1].operator: Invalid value: ""',
    'spec.tolerations[2].value: Invalid value: "x"',
    'spec.tolerations[2].effect: Unsupported value: "Never"',
    'spec.tolerations[3].key: Invalid value: "-"',
    'spec.tolerations[3].effect: Invalid value: ""',
    'spec.tolerations[3].value: Invalid value: "-"',
    'spec.tolerations[4].operator: Unsupported value: "Like"',
    'spec.priorityClassName: Invalid value: "A"',
    'spec.preemptionPolicy: Unsupported value: "x"',
    'spec.schedulingGates: Forbidden',
    'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: Required value',
    'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[1].operator: Unsupported value: "Is"',
    'spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0',
    'spec.topologySpreadConstraints[0].topologyKey: Required value',
    'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "x"',
  );
});

test('the rest of the spec', () => {
  expectFaults(
    inSpec({
      activeDeadlineSeconds: 0,
      terminationGracePeriodSeconds: -1,
      runtimeClassName: 'A',
      nodeName: 'B',
      os: { name: 'plan9' },
      overhead: { cpu: '-1' },
      resourceClaims: [{ name: 'a' }, { name: 'a', resourceClaimName: 'x' }],
    }),
    'spec.resourceClaims[0]: Invalid value: "a"',
    'spec.resourceClaims[1].name: Duplicate value: "a"',
    'spec.terminationGracePeriodSeconds: Invalid value: -1',
    'spec.activeDeadlineSeconds: Invalid value: 0',
    'spec.nodeName: Invalid value: "B"',
    'spec.runtimeClassName: Invalid value: "A"',
    'spec.os.name: Unsupported value: "plan9"',
    'spec.overhead[cpu]: Invalid value: "-1"',
  );
  const bare: Pod = { metadata: { name: 'a', namespace: 'b' } };
  assert.deepEqual(
    validatePod(bare).map((fault) => fault.message),
    ['spec: Required value'],
  );
});
