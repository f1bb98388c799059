import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeFile } from '../decode-file.ts';
import { parseFlags } from '../flags/parse.ts';
import { ownFlags } from '../flags/own-flags.ts';
import { fileLayer } from '../layers.ts';
import { assess } from '../load.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

function faultsOf(body: string, argv?: readonly string[]): readonly string[] {
  const { tree, faults } = decodeFile(head + body, '/k', 'file');
  assert.deepEqual(faults, [], body);
  const flags = argv === undefined ? undefined : ownFlags(parseFlags(argv).values);
  return assess(fileLayer(tree, '/k'), flags).faults.map(({ field, message }) => `${field}: ${message}`);
}

test('the defaults are valid', () => {
  assert.deepEqual(faultsOf(''), []);
});

/** Bodies with the field of the expected fault, or undefined for a valid body. */
const table: readonly (readonly [string, string | undefined])[] = [
  ['port: 70000', 'port'],
  ['port: 65535', undefined],
  ['readOnlyPort: -1', 'readOnlyPort'],
  ['healthzPort: 0', undefined],
  ['healthzPort: 65536', 'healthzPort'],
  ['registryPullQPS: 0', undefined],
  ['registryPullQPS: -1', 'registryPullQPS'],
  ['registryBurst: -1', 'registryBurst'],
  ['eventRecordQPS: -1', 'eventRecordQPS'],
  ['eventBurst: -1', 'eventBurst'],
  ['kubeAPIQPS: -1', 'kubeAPIQPS'],
  ['kubeAPIBurst: -1', 'kubeAPIBurst'],
  ['oomScoreAdj: -1001', 'oomScoreAdj'],
  ['oomScoreAdj: 1000', undefined],
  ['nodeLeaseDurationSeconds: -1', 'nodeLeaseDurationSeconds'],
  ['imageGCHighThresholdPercent: 101', 'imageGCHighThresholdPercent'],
  ['imageGCLowThresholdPercent: 85', 'imageGCLowThresholdPercent'],
  ['imageGCLowThresholdPercent: -1', 'imageGCLowThresholdPercent'],
  ['maxPods: -1', 'maxPods'],
  ['podsPerCore: -1', 'podsPerCore'],
  ['nodeStatusMaxImages: -1', undefined],
  ['nodeStatusMaxImages: -2', 'nodeStatusMaxImages'],
  ['maxOpenFiles: -1', 'maxOpenFiles'],
  ['iptablesMasqueradeBit: 32', 'iptablesMasqueradeBit'],
  ['iptablesDropBit: -1', 'iptablesDropBit'],
  ['containerLogMaxFiles: 1', 'containerLogMaxFiles'],
  ['containerLogMaxWorkers: 0', 'containerLogMaxWorkers'],
  ['containerLogMonitorInterval: 2s', 'containerLogMonitorInterval'],
  ['containerLogMaxSize: big', 'containerLogMaxSize'],
  ['containerLogMaxSize: "-1"', undefined],
  ['authorization: {mode: Never}', 'authorization.mode'],
  ['cgroupDriver: systemd', undefined],
  ['cgroupDriver: foo', 'cgroupDriver'],
  ['cpuManagerPolicy: dynamic', 'cpuManagerPolicy'],
  ['memoryManagerPolicy: static', 'memoryManagerPolicy'],
  ['topologyManagerPolicy: best', 'topologyManagerPolicy'],
  ['topologyManagerScope: node', 'topologyManagerScope'],
  ['hairpinMode: pin', 'hairpinMode'],
  ['memorySwap: {swapBehavior: LimitedSwap}', undefined],
  ['memorySwap: {swapBehavior: UnlimitedSwap}', 'memorySwap.swapBehavior'],
  ['configMapAndSecretChangeDetectionStrategy: Poll', 'configMapAndSecretChangeDetectionStrategy'],
  ['logging: {format: xml}', 'logging.format'],
  ['showHiddenMetricsForVersion: "1.33"', undefined],
  ['showHiddenMetricsForVersion: "1.32"', 'showHiddenMetricsForVersion'],
  ['tlsMinVersion: VersionTLS12', undefined],
  ['tlsMinVersion: TLS12', 'tlsMinVersion'],
  ['tlsCipherSuites: [TLS_AES_128_GCM_SHA256]', undefined],
  ['tlsCipherSuites: [AES]', 'tlsCipherSuites'],
  ['syncFrequency: -1s', 'syncFrequency'],
  ['cpuCFSQuotaPeriod: 10ms', 'cpuCFSQuotaPeriod'],
  ['cpuCFSQuotaPeriod: 10ms\nfeatureGates: {CustomCPUCFSQuotaPeriod: true}', undefined],
  ['cpuCFSQuotaPeriod: 2s\nfeatureGates: {CustomCPUCFSQuotaPeriod: true}', 'cpuCFSQuotaPeriod'],
  ['imageMaximumGCAge: 1m', 'imageMaximumGCAge'],
  ['imageMaximumGCAge: 1h', undefined],
  ['imageMaximumGCAge: -1h', 'imageMaximumGCAge'],
  ['imageMaximumGCAge: 1h\nfeatureGates: {ImageMaximumGCAge: false}', 'imageMaximumGCAge'],
  ['maxParallelImagePulls: 0', 'maxParallelImagePulls'],
  ['maxParallelImagePulls: 3\nserializeImagePulls: true', 'maxParallelImagePulls'],
  ['maxParallelImagePulls: 3', undefined],
  ['imagePullCredentialsVerificationPolicy: AlwaysVerify', 'imagePullCredentialsVerificationPolicy'],
  [
    'imagePullCredentialsVerificationPolicy: AlwaysVerify\nfeatureGates: {KubeletEnsureSecretPulledImages: true}',
    undefined,
  ],
  [
    'imagePullCredentialsVerificationPolicy: Maybe\nfeatureGates: {KubeletEnsureSecretPulledImages: true}',
    'imagePullCredentialsVerificationPolicy',
  ],
  ['preloadedImagesVerificationAllowlist: [a/b]', 'preloadedImagesVerificationAllowlist'],
  ['systemCgroups: /s', 'systemCgroups'],
  ['systemCgroups: /s\ncgroupRoot: /', undefined],
  ['cgroupsPerQOS: false', 'enforceNodeAllocatable'],
  ['cgroupsPerQOS: false\nenforceNodeAllocatable: [none]', undefined],
  ['cgroupsPerQOS: false\nenforceNodeAllocatable: []', undefined],
  ['enforceNodeAllocatable: [pods, none]', 'enforceNodeAllocatable'],
  ['enforceNodeAllocatable: [pods, pods]', 'enforceNodeAllocatable'],
  ['enforceNodeAllocatable: [everything]', 'enforceNodeAllocatable'],
  ['enforceNodeAllocatable: [system-reserved]', 'systemReservedCgroup'],
  ['enforceNodeAllocatable: [kube-reserved-compressible]', 'kubeReservedCgroup'],
  ['enforceNodeAllocatable: [kube-reserved]\nkubeReservedCgroup: /k', undefined],
  [
    'enforceNodeAllocatable: [kube-reserved, kube-reserved-compressible]\nkubeReservedCgroup: /k',
    'enforceNodeAllocatable',
  ],
  ['systemReserved: {cpu: 500m, memory: 1Gi, ephemeral-storage: 1Gi, pid: "100"}', undefined],
  ['systemReserved: {gpu: "1"}', 'systemReserved.gpu'],
  ['kubeReserved: {cpu: lots}', 'kubeReserved.cpu'],
  ['kubeReserved: {cpu: "-1"}', 'kubeReserved.cpu'],
  ['reservedSystemCPUs: 0-1,4', undefined],
  ['reservedSystemCPUs: 3-1', 'reservedSystemCPUs'],
  ['reservedSystemCPUs: "0"\nsystemReservedCgroup: /s', 'reservedSystemCPUs'],
  ['qosReserved: {memory: 50%}', 'qosReserved'],
  ['qosReserved: {memory: 50%}\nfeatureGates: {QOSReserved: true}', undefined],
  ['qosReserved: {cpu: 50%}\nfeatureGates: {QOSReserved: true}', 'qosReserved.cpu'],
  ['qosReserved: {memory: 150%}\nfeatureGates: {QOSReserved: true}', 'qosReserved.memory'],
  ['reservedMemory: [{numaNode: 0, limits: {memory: 1Gi, hugepages-2Mi: 2Mi}}]', undefined],
  ['reservedMemory: [{numaNode: 0, limits: {cpu: 1}}]', 'reservedMemory.0.limits.cpu'],
  ['reservedMemory: [{numaNode: 0, limits: {memory: 0}}]', 'reservedMemory.0.limits.memory'],
  [
    'reservedMemory: [{numaNode: 0, limits: {memory: 1}}, {numaNode: 0, limits: {memory: 1}}]',
    'reservedMemory.1.limits.memory',
  ],
  ['cpuManagerPolicyOptions: {full-pcpus-only: "true"}', undefined],
  ['cpuManagerPolicyOptions: {align-by-socket: "true"}', 'cpuManagerPolicyOptions.align-by-socket'],
  ['cpuManagerPolicyOptions: {align-by-socket: "true"}\nfeatureGates: {CPUManagerPolicyAlphaOptions: true}', undefined],
  ['cpuManagerPolicyOptions: {fast: "true"}', 'cpuManagerPolicyOptions.fast'],
  ['topologyManagerPolicyOptions: {a: b}', undefined],
  ['topologyManagerPolicy: restricted\ntopologyManagerPolicyOptions: {a: b}', 'topologyManagerPolicyOptions.a'],
  ['topologyManagerPolicy: restricted\ntopologyManagerPolicyOptions: {max-allowable-numa-nodes: "8"}', undefined],
  [
    'topologyManagerPolicyOptions: {a: b}\nfeatureGates: {TopologyManagerPolicyOptions: false}',
    'topologyManagerPolicyOptions',
  ],
  ['memoryThrottlingFactor: 0.0', 'memoryThrottlingFactor'],
  ['memoryThrottlingFactor: 1.1', 'memoryThrottlingFactor'],
  ['memoryThrottlingFactor: 1', undefined],
  ['userNamespaces: {idsPerPod: 65536}', undefined],
  ['userNamespaces: {idsPerPod: 65537}', 'userNamespaces.idsPerPod'],
  ['userNamespaces: {idsPerPod: 4294967296}', 'userNamespaces.idsPerPod'],
  ['evictionHard: {memory.available: 5%, pid.available: 10%}', undefined],
  ['evictionHard: {memory.available: 0%}', undefined],
  ['evictionHard: {memory.available: 101%}', 'evictionHard.memory.available'],
  ['evictionHard: {memory.available: "0"}', 'evictionHard.memory.available'],
  ['evictionHard: {memory.free: 5%}', 'evictionHard.memory.free'],
  ['evictionSoft: {memory.available: 5%}', 'evictionSoft.memory.available'],
  ['evictionSoft: {memory.available: 5%}\nevictionSoftGracePeriod: {memory.available: 1m}', undefined],
  ['evictionSoftGracePeriod: {memory.available: soon}', 'evictionSoftGracePeriod.memory.available'],
  ['evictionSoftGracePeriod: {mem: 1m}', 'evictionSoftGracePeriod.mem'],
  ['evictionMinimumReclaim: {memory.available: 0Mi}', undefined],
  ['evictionMinimumReclaim: {memory.available: "-1"}', 'evictionMinimumReclaim.memory.available'],
  ['serverTLSBootstrap: true', undefined],
  ['serverTLSBootstrap: true\nfeatureGates: {RotateKubeletServerCertificate: false}', 'serverTLSBootstrap'],
  ['enableSystemLogQuery: true', 'enableSystemLogQuery'],
  ['enableSystemLogQuery: true\nfeatureGates: {NodeLogQuery: true}', undefined],
  [
    'enableSystemLogQuery: true\nenableSystemLogHandler: false\nfeatureGates: {NodeLogQuery: true}',
    'enableSystemLogQuery',
  ],
  ['tracing: {endpoint: localhost:4317, samplingRatePerMillion: 1000000}', undefined],
  ['tracing: {endpoint: "unix:///x"}', undefined],
  ['tracing: {endpoint: "http://x"}', 'tracing.endpoint'],
  ['tracing: {samplingRatePerMillion: 1000001}', 'tracing.samplingRatePerMillion'],
  ['logging: {verbosity: 3000000000}', 'logging.verbosity'],
  ['logging: {vmodule: [{filePattern: a, verbosity: 1}]}', undefined],
  ['logging: {format: json, vmodule: [{filePattern: a, verbosity: 1}]}', 'logging.vmodule'],
  ['logging: {vmodule: [{filePattern: "a=b", verbosity: 1}]}', 'logging.vmodule.0.filePattern'],
  ['logging: {options: {text: {splitStream: true}}}', 'logging.options.text.splitStream'],
  ['logging: {options: {json: {infoBufferSize: 1Ki}}}', 'logging.options.json.infoBufferSize'],
  ['logging: {options: {json: {infoBufferSize: 1Ki}}}\nfeatureGates: {LoggingAlphaOptions: true}', undefined],
  ['podLogsDir: /var//log', 'podLogsDir'],
  ['podLogsDir: /var/../log', 'podLogsDir'],
  ['podLogsDir: /var/l\u00f6g', 'podLogsDir'],
  ['podLogsDir: /pods', undefined],
  ['crashLoopBackOff: {maxContainerRestartPeriod: 10s}', 'crashLoopBackOff.maxContainerRestartPeriod'],
  ['crashLoopBackOff: {maxContainerRestartPeriod: 10s}\nfeatureGates: {KubeletCrashLoopBackOffMax: true}', undefined],
  [
    'crashLoopBackOff: {maxContainerRestartPeriod: 301s}\nfeatureGates: {KubeletCrashLoopBackOffMax: true}',
    'crashLoopBackOff.maxContainerRestartPeriod',
  ],
  ['allowedUnsafeSysctls: [net.*, kernel.msgmax]', undefined],
  ['allowedUnsafeSysctls: ["*.x"]', 'allowedUnsafeSysctls'],
  ['shutdownGracePeriod: 30s\nshutdownGracePeriodCriticalPods: 10s', undefined],
  ['shutdownGracePeriod: 500ms', 'shutdownGracePeriod'],
  ['shutdownGracePeriod: 10s\nshutdownGracePeriodCriticalPods: 20s', 'shutdownGracePeriodCriticalPods'],
  ['shutdownGracePeriod: 10s\nfeatureGates: {GracefulNodeShutdown: false}', 'shutdownGracePeriod'],
  ['shutdownGracePeriodByPodPriority: [{priority: 1, shutdownGracePeriodSeconds: 5}]', undefined],
  [
    'shutdownGracePeriod: 10s\nshutdownGracePeriodByPodPriority: [{priority: 1, shutdownGracePeriodSeconds: 5}]',
    'shutdownGracePeriodByPodPriority',
  ],
  ['registerWithTaints: [{key: a.b/c, value: d, effect: NoExecute}]', undefined],
  ['registerWithTaints: [{key: "a b", effect: NoExecute}]', 'registerWithTaints.0.key'],
  ['registerWithTaints: [{key: a, value: "-", effect: NoExecute}]', 'registerWithTaints.0.value'],
  ['registerWithTaints: [{key: a, effect: Never}]', 'registerWithTaints.0.effect'],
  [
    'registerWithTaints: [{key: a, effect: NoExecute, timeAdded: "2024-01-01T00:00:00Z"}]',
    'registerWithTaints.0.timeAdded',
  ],
  ['registerWithTaints: [{key: a, effect: NoExecute}, {key: a, value: b, effect: NoExecute}]', 'registerWithTaints.1'],
];

test('each rule finds its faults and no others', () => {
  for (const [body, field] of table) {
    const faults = faultsOf(body);
    if (field === undefined) assert.deepEqual(faults, [], body);
    else
      assert.deepEqual(
        faults.map((fault) => fault.split(': ')[0]),
        [field],
        `${body}\n${faults.join('\n')}`,
      );
  }
});

test('names of preloaded images', () => {
  const gate =
    'imagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages\nfeatureGates: {KubeletEnsureSecretPulledImages: true}\n';
  const ok = ['nginx', 'registry.example:5000/a/b', 'a/b/*', 'registry.example:5000/*'];
  const wrong = ['nginx:1', 'a/b@sha256:0', '/*', '*', 'a/*/b', ' a', 'a*', 'a/b:1/*', ''];
  for (const name of ok) {
    assert.deepEqual(faultsOf(`${gate}preloadedImagesVerificationAllowlist: [${JSON.stringify(name)}]`), [], name);
  }
  for (const name of wrong) {
    assert.equal(faultsOf(`${gate}preloadedImagesVerificationAllowlist: [${JSON.stringify(name)}]`).length, 1, name);
  }
});

test('messages contain the value and a hint', () => {
  assert.deepEqual(faultsOf('readOnlyPort: 70000\nenableSystemLogQuery: true'), [
    'readOnlyPort: must be from 0 to 65535 (0 turns the server off), got 70000',
    'enableSystemLogQuery: needs the feature gate NodeLogQuery; set featureGates.NodeLogQuery: true or remove the field',
  ]);
});

test('rules about the command line', () => {
  const words: readonly (readonly [readonly string[], string | undefined])[] = [
    [[], undefined],
    [['--cloud-provider=external'], undefined],
    [['--cloud-provider=gce'], '--cloud-provider'],
    [['--exit-on-lock-contention'], '--exit-on-lock-contention'],
    [['--exit-on-lock-contention', '--lock-file=/x'], undefined],
    [['--node-ip=1.2.3.4'], undefined],
    [['--node-ip=1.2.3.4,::1'], undefined],
    [['--node-ip=nonsense'], undefined],
    [['--node-ip=::'], undefined],
    [['--node-ip=1.2.3.4,1.2.3.5'], '--node-ip'],
    [['--node-ip=1.2.3.4,::'], '--node-ip'],
    [['--node-ip=1.2.3.4,::1,::2'], '--node-ip'],
    [
      ['--node-labels=a=b,example.com/c=d,node.kubernetes.io/x=y,x.kubelet.kubernetes.io/z=1,kubernetes.io/os=linux'],
      undefined,
    ],
    [['--node-labels=kubernetes.io/role=x'], '--node-labels'],
    [['--node-labels=node-role.kubernetes.io/worker='], '--node-labels'],
    [['--node-labels=x.k8s.io/y=z'], '--node-labels'],
    [['--node-labels=a b=c'], '--node-labels'],
    [['--node-labels=a=b c'], '--node-labels'],
  ];
  for (const [argv, field] of words) {
    const faults = faultsOf('', ['--kubeconfig=/x', ...argv]);
    assert.deepEqual(
      faults.map((fault) => fault.split(': ')[0]),
      field === undefined ? [] : [field],
      argv.join(' '),
    );
  }
});

test('all rules speak at once', () => {
  assert.equal(
    faultsOf('port: 70000\nmaxPods: -1\nhairpinMode: x\nshutdownGracePeriod: 1ms\nfeatureGates: {Zebra: true}').length,
    5,
  );
});

/** A word that is nearly right, where it is asked for, and the word that was meant. */
const misspelt: readonly (readonly [body: string, meant: string])[] = [
  ['authorization: {mode: webhook}', 'Webhook'],
  ['cgroupDriver: systemD', 'systemd'],
  ['cpuManagerPolicy: Static', 'static'],
  ['memoryManagerPolicy: none', 'None'],
  ['topologyManagerPolicy: besteffort', 'best-effort'],
  ['topologyManagerScope: pods', 'pod'],
  ['hairpinMode: hairpin-vet', 'hairpin-veth'],
  ['memorySwap: {swapBehavior: LimitSwap}', 'LimitedSwap'],
  ['configMapAndSecretChangeDetectionStrategy: watch', 'Watch'],
  ['logging: {format: jsn}', 'json'],
  ['tlsMinVersion: VersionTLS1.3', 'VersionTLS13'],
  ['tlsCipherSuites: [TLS_AES_128_GCM_SHA265]', 'TLS_AES_128_GCM_SHA256'],
  ['enforceNodeAllocatable: [pod]', 'pods'],
  ['cpuManagerPolicyOptions: {full-pcpu-only: "true"}', 'full-pcpus-only'],
  [
    'topologyManagerPolicy: restricted\ntopologyManagerPolicyOptions: {prefer-closest-numa-node: "true"}',
    'prefer-closest-numa-nodes',
  ],
  ['evictionHard: {memory.availble: 5%}', 'memory.available'],
  ['registerWithTaints: [{key: a, effect: NoExecut}]', 'NoExecute'],
  [
    'imagePullCredentialsVerificationPolicy: AlwaysVerfy\nfeatureGates: {KubeletEnsureSecretPulledImages: true}',
    'AlwaysVerify',
  ],
];
for (const [body, meant] of misspelt) {
  test(`${JSON.stringify(body)}: did you mean ${meant}?`, () => {
    const faults = faultsOf(body);
    assert.equal(faults.length, 1, faults.join('; '));
    assert.ok(faults[0]?.endsWith(`; did you mean ${meant}?`), faults[0]);
  });
}

test('flags are held to the same words, and a word that is far from all gets no guess', () => {
  assert.match(
    faultsOf('', ['--cloud-provider=externl']).join(),
    /^--cloud-provider: must be one of empty, external, got "externl"; did you mean external\?,/,
  );
  assert.match(faultsOf('cgroupDriver: foo').join(), /^cgroupDriver: must be one of cgroupfs, systemd, got "foo"$/);
});

test('an unknown word with which the Go kubelet starts is only a warning', () => {
  const body = 'contentType: application/jsn\ntopologyManagerPolicyOptions: {prefer-closest-numa-node: "true"}';
  const { tree } = decodeFile(head + body, '/k', 'file');
  const { faults, warnings } = assess(fileLayer(tree, '/k'));
  assert.deepEqual(faults, []);
  assert.deepEqual(
    warnings.map(({ field, message }) => `${field}: ${message}`),
    [
      'contentType: has no effect: must be one of application/vnd.kubernetes.protobuf, application/json, ' +
        'got "application/jsn"; did you mean application/json?',
      'topologyManagerPolicyOptions.prefer-closest-numa-node: has no effect: must be one of ' +
        'prefer-closest-numa-nodes, max-allowable-numa-nodes, got "prefer-closest-numa-node"; ' +
        'did you mean prefer-closest-numa-nodes?',
    ],
  );
});
