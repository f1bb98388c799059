import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSettings } from './load.ts';
import { describeOrigin } from './origin.ts';
import type { LoadResult, Settings } from './settings.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
/** A file for a node without an API server: without this the secure defaults ask for an API server. */
const alone = `${head}authentication: {webhook: {enabled: false}}\nauthorization: {mode: AlwaysAllow}\n`;

type Tree = Readonly<Record<string, string>>;

function load(argv: readonly string[], files: Tree = {}): LoadResult {
  return loadSettings({
    argv,
    version: '0.1.0',
    cwd: '/cwd',
    readFile(path) {
      const text = files[path];
      if (text === undefined) throw new Error('no such file');
      return text;
    },
    listDir(path) {
      const below = Object.keys(files).filter((file) => file.startsWith(`${path}/`));
      if (below.length === 0) throw new Error('no such folder');
      const names = new Map(
        below
          .map((file) => file.slice(path.length + 1).split('/'))
          .map(([name = '', ...rest]) => [name, rest.length > 0]),
      );
      // Any order must do.
      return [...names].map(([name, isDirectory]) => ({ name, isDirectory })).toReversed();
    },
  });
}

function run(
  argv: readonly string[],
  files: Tree = {},
): { readonly settings: Settings; readonly warnings: readonly string[] } {
  const result = load(argv, files);
  assert.equal(result.kind, 'run', JSON.stringify(result));
  if (result.kind !== 'run') throw new Error('unreachable');
  return result;
}

function faults(argv: readonly string[], files: Tree = {}): readonly string[] {
  const result = load(argv, files);
  assert.equal(result.kind, 'error', JSON.stringify(result));
  if (result.kind !== 'error') throw new Error('unreachable');
  assert.equal(result.exitCode, 1);
  return result.messages;
}

test('without a file the legacy defaults apply, without hard eviction', () => {
  const { config, provenance } = run([]).settings;
  assert.equal(config.authentication.anonymous.enabled, true);
  assert.equal(config.authentication.webhook.enabled, false);
  assert.equal(config.authorization.mode, 'AlwaysAllow');
  assert.equal(config.readOnlyPort, 10255);
  assert.deepEqual(config.evictionHard, {});
  assert.equal(config.syncFrequency.toString(), '1m0s');
  assert.deepEqual(provenance.explicit, []);
});

test('with a file the secure defaults hold', () => {
  const { config } = run(['--config=/k', '--kubeconfig=/kc'], { '/k': head }).settings;
  assert.equal(config.authentication.anonymous.enabled, false);
  assert.equal(config.authentication.webhook.enabled, true);
  assert.equal(config.authorization.mode, 'Webhook');
  assert.equal(config.readOnlyPort, 0);
  assert.equal(config.evictionHard['imagefs.available'], '15%');
});

test('hard eviction: absent, present, merged, emptied', () => {
  const table: readonly (readonly [string, number, string | undefined])[] = [
    ['', 5, '100Mi'],
    ['evictionHard: null', 5, '100Mi'],
    ['evictionHard: {}', 0, undefined],
    ['evictionHard: {memory.available: 5%}', 1, '5%'],
    ['evictionHard: {memory.available: 5%}\nmergeDefaultEvictionSettings: true', 5, '5%'],
  ];
  for (const [body, size, memory] of table) {
    const { evictionHard } = run(['--config=/k'], { '/k': `${alone}${body}` }).settings.config;
    assert.equal(Object.keys(evictionHard).length, size, body);
    assert.equal(evictionHard['memory.available'], memory, body);
  }
  const byFlag = run(['--config=/k', '--eviction-hard=memory.available<1Gi'], { '/k': alone }).settings.config;
  assert.deepEqual(byFlag.evictionHard, { 'memory.available': '1Gi' });
});

test('zero means absent for plain fields and is a value for the others', () => {
  const { config } = run(['--config=/k'], {
    '/k': `${alone}port: 0\nmaxPods: 0\naddress: ""\nsyncFrequency: 0s\nhealthzPort: 0\nresolvConf: ""\nenforceNodeAllocatable: []\nreadOnlyPort: 0\n`,
  }).settings;
  assert.deepEqual(
    [
      config.port,
      config.maxPods,
      config.address,
      config.syncFrequency.toString(),
      config.healthzPort,
      config.resolvConf,
    ],
    [10250, 110, '0.0.0.0', '1m0s', 0, ''],
  );
  assert.deepEqual(config.enforceNodeAllocatable, []);
});

test('defaults that depend on other fields', () => {
  const config = (body: string, ...argv: readonly string[]): Settings['config'] =>
    run(['--config=/k', ...argv], { '/k': `${alone}${body}` }).settings.config;
  assert.equal(config('nodeStatusUpdateFrequency: 30s').nodeStatusReportFrequency.toString(), '30s');
  assert.equal(
    config('nodeStatusUpdateFrequency: 30s\nnodeStatusReportFrequency: 2m').nodeStatusReportFrequency.toString(),
    '2m0s',
  );
  assert.equal(config('', '--node-status-update-frequency=30s').nodeStatusReportFrequency.toString(), '5m0s');
  assert.equal(config('maxParallelImagePulls: 2').serializeImagePulls, false);
  assert.equal(config('maxParallelImagePulls: 1').serializeImagePulls, true);
  assert.equal(config('podPidsLimit: -7').podPidsLimit, -1);
  const gated = config('featureGates: {KubeletCrashLoopBackOffMax: true, KubeletEnsureSecretPulledImages: true}');
  assert.equal(gated.crashLoopBackOff.maxContainerRestartPeriod?.toString(), '5m0s');
  assert.equal(gated.imagePullCredentialsVerificationPolicy, 'NeverVerifyPreloadedImages');
  assert.equal(config('').crashLoopBackOff.maxContainerRestartPeriod, undefined);
});

test('relative paths of the file start from its folder, those of drop-ins do not', () => {
  const { config } = run(['--config=conf/k', '--config-dir=/d'], {
    '/cwd/conf/k': `${alone}staticPodPath: manifests\ntlsCertFile: ../x.crt\nresolvConf: /abs\nauthentication:\n  x509: {clientCAFile: ca.crt}\n  webhook: {enabled: false}\n`,
    '/d/a.conf': `${head}tlsPrivateKeyFile: key\n`,
  }).settings;
  assert.equal(config.staticPodPath, '/cwd/conf/manifests');
  assert.equal(config.tlsCertFile, '/cwd/x.crt');
  assert.equal(config.resolvConf, '/abs');
  assert.equal(config.authentication.x509.clientCAFile, '/cwd/conf/ca.crt');
  assert.equal(config.tlsPrivateKeyFile, 'key');
});

test('drop-ins: a walk by name, only *.conf, later ones win', () => {
  const { config, provenance } = run(['--config=/k', '--config-dir=/d'], {
    '/k': `${alone}maxPods: 1\nport: 1001\n`,
    '/d/20-b.conf': `${head}maxPods: 20\n`,
    '/d/10-a.conf': `${head}maxPods: 10\nport: 1010\n`,
    '/d/15-more/z.conf': `${head}maxPods: 15\npodsPerCore: 15\n`,
    '/d/30-c.yaml': `${head}maxPods: 30\n`,
    '/d/notes.txt': 'not read',
  }).settings;
  assert.deepEqual([config.maxPods, config.port, config.podsPerCore], [20, 1010, 15]);
  assert.equal(describeOrigin(provenance.of(['maxPods'])), '/d/20-b.conf:3');
  assert.equal(describeOrigin(provenance.of(['podsPerCore'])), '/d/15-more/z.conf:4');
});

test('drop-ins: maps merge by key, lists and scalars replace, null removes', () => {
  const { config } = run(['--config=/k', '--config-dir=/d'], {
    '/k': `${alone}clusterDNS: [10.0.0.1]\nmaxPods: 5\nkubeReserved: {cpu: "1"}\nsystemReserved: {cpu: "1"}\nclusterDomain: x\n`,
    '/d/a.conf': `${head}clusterDNS: [10.0.0.2]\nmaxPods: null\nkubeReserved: {memory: 1Gi}\nsystemReserved: null\nclusterDomain: null\nevictionHard: {memory.available: 1Gi, nodefs.available: null}\nauthentication: {anonymous: {enabled: true}}\n`,
  }).settings;
  assert.deepEqual(config.clusterDNS, ['10.0.0.2']);
  assert.equal(config.maxPods, 110);
  assert.deepEqual(config.kubeReserved, { cpu: '1', memory: '1Gi' });
  assert.deepEqual(config.systemReserved, {});
  assert.equal(config.clusterDomain, '');
  assert.equal(config.evictionHard['memory.available'], '1Gi');
  assert.equal(Object.keys(config.evictionHard).length, 4);
  assert.deepEqual([config.authentication.anonymous.enabled, config.authentication.webhook.enabled], [true, false]);
});

test('drop-ins without a file lie over the legacy defaults', () => {
  const { config } = run(['--config-dir=/d', '--max-pods=7'], { '/d/a.conf': `${head}maxPods: 5\nport: 1\n` }).settings;
  assert.deepEqual([config.readOnlyPort, config.maxPods, config.port], [10255, 7, 1]);
  assert.deepEqual(config.evictionHard, {});
});

test('a default filled for the file is not recomputed for drop-ins', () => {
  const { config } = run(['--config=/k', '--config-dir=/d'], {
    '/k': alone,
    '/d/a.conf': `${head}nodeStatusUpdateFrequency: 30s\n`,
  }).settings;
  assert.equal(config.nodeStatusReportFrequency.toString(), '5m0s');
});

test('flags beat drop-ins and file; map flags replace, gates merge', () => {
  const { settings } = run(
    [
      '--config=/k',
      '--config-dir=/d',
      '--max-pods=3',
      '--kube-reserved=cpu=2',
      '--feature-gates=KubeletPSI=true,EventedPLEG=true',
      '-v4',
    ],
    {
      '/k': `${alone}maxPods: 1\nkubeReserved: {memory: 1Gi}\nfeatureGates: {KubeletPSI: false, NodeLogQuery: true}\n`,
      '/d/a.conf': `${head}maxPods: 2\nfeatureGates: {ImageVolume: true}\n`,
    },
  );
  const { config, featureGates, provenance } = settings;
  assert.equal(config.maxPods, 3);
  assert.deepEqual(config.kubeReserved, { cpu: '2' });
  assert.equal(config.logging.verbosity, 4);
  assert.deepEqual(config.featureGates, { KubeletPSI: true, NodeLogQuery: true, ImageVolume: true, EventedPLEG: true });
  assert.ok(
    featureGates.enabled('NodeLogQuery') && featureGates.enabled('ImageVolume') && featureGates.enabled('KubeletPSI'),
  );
  assert.equal(describeOrigin(provenance.of(['featureGates', 'NodeLogQuery'])), '/k:7');
  assert.equal(describeOrigin(provenance.of(['featureGates', 'KubeletPSI'])), '--feature-gates');
  assert.equal(describeOrigin(provenance.of(['maxPods'])), '--max-pods');
  assert.equal(describeOrigin(provenance.of(['port'])), 'default');
  assert.deepEqual(provenance.flags, ['config', 'config-dir', 'max-pods', 'kube-reserved', 'feature-gates', 'v']);
});

test('either the seccomp flag or the field enables it', () => {
  const value = (flag: readonly string[], body: string): boolean =>
    run(['--config=/k', ...flag], { '/k': alone + body }).settings.config.seccompDefault;
  assert.equal(value([], ''), false);
  assert.equal(value(['--seccomp-default'], ''), true);
  assert.equal(value([], 'seccompDefault: true'), true);
  assert.equal(value(['--seccomp-default=false'], 'seccompDefault: true'), true);
});

test('warnings: deprecated flags, odd fields, gates, addresses', () => {
  const { warnings } = run(
    [
      '--config=/k',
      '--max-pods=5',
      '--max-pods=6',
      '--containerd=x',
      '--maximum-dead-containers=5',
      '--node-ip=a,1.2.3.4',
    ],
    { '/k': `${alone}MaxPods: 1\nclusterDNS: [dns]\nfeatureGates: {NodeSwap: true}\n` },
  );
  assert.deepEqual(warnings, [
    'Flag --max-pods has been deprecated, set maxPods in the file given with --config instead',
    'Flag --maximum-dead-containers has been deprecated, it will go away and nothing replaces it',
    'Flag --containerd has been deprecated, it came from a statistics library and has no effect',
    '/k:5: MaxPods: unknown field, did you mean maxPods?',
    '/k:7: featureGates.NodeSwap: the feature is generally available and its gate will go away; remove it',
    'clusterDNS: "dns" is not an IP address and is left out',
    '--node-ip: "a" is not an IP address and is left out',
  ]);
});

test('all faults at once, each with its place', () => {
  assert.deepEqual(faults(['--max-pods=x', '--nope']), [
    'invalid argument "x" for "--max-pods" flag: must be a whole number',
    'unknown flag: --nope',
  ]);
  assert.deepEqual(
    faults(['--config=/k', '--config-dir=/d'], {
      '/k': `${alone}maxPods: x\n`,
      '/d/a.conf': '',
      '/d/b.conf': 'port: 1',
    }),
    [
      '/k:5: maxPods: expected a whole number of 32 bits, got "x"',
      '/d/a.conf:1: the file is empty',
      '/d/b.conf:1: apiVersion: missing; add "apiVersion: kubelet.config.k8s.io/v1beta1"',
      '/d/b.conf:1: kind: missing; add "kind: KubeletConfiguration"',
    ],
  );
  assert.deepEqual(
    faults(['--config=/k', '--config-dir=/d', '--port=0', '--feature-gates=Zebra=true', '--exit-on-lock-contention'], {
      '/k': `${alone}evictionHard:\n  memory.available: -5\n  nodefs.available: 5%\n`.replace('-5', '"-5"'),
      '/d/a.conf': `${head}\nmaxPods: -1\n`,
    }),
    [
      '--feature-gates: featureGates.Zebra: unknown feature gate; remove it',
      '--port: port: must be from 1 to 65535, got 0',
      '/d/a.conf:4: maxPods: must be 0 or more, got -1',
      '/k:6: evictionHard.memory.available: eviction threshold memory.available must be positive: -5',
      '--exit-on-lock-contention: needs --lock-file to be set, got true',
    ],
  );
});

test('a flag with an unknown word is refused, with its origin and a guess', () => {
  const result = load(['--cgroup-driver=systemD', '--topology-manager-scope=foo']);
  assert.ok(result.kind === 'error');
  assert.equal(result.exitCode, 1);
  assert.deepEqual(result.messages, [
    '--cgroup-driver: cgroupDriver: must be one of cgroupfs, systemd, got "systemD"; did you mean systemd?',
    '--topology-manager-scope: topologyManagerScope: must be one of container, pod, got "foo"',
  ]);
});

test('files that cannot be read', () => {
  assert.deepEqual(faults(['--config=nowhere']), ['--config: cannot read /cwd/nowhere: no such file']);
  assert.deepEqual(faults(['--config-dir=/nowhere']), ['--config-dir: cannot read /nowhere: no such folder']);
});

test('a node without an API server cannot ask one; run-once is for it only', () => {
  assert.deepEqual(faults(['--config=/k'], { '/k': head }), [
    'authentication.webhook.enabled: must be false without --kubeconfig: there is no API server to check tokens, got true',
    'authorization.mode: must be AlwaysAllow without --kubeconfig: there is no API server to ask, got "Webhook"',
  ]);
  assert.equal(run(['--runonce']).settings.config.runOnce, true);
  assert.match(
    faults(['--runonce', '--kubeconfig=/x'])[0] ?? '',
    /^--runonce: runOnce: runs only the pods of local sources/,
  );
});

test('help and version come before anything is read, but after faults of the flags', () => {
  assert.equal(load(['--help', '--config=/nowhere']).kind, 'help');
  assert.deepEqual(load(['--version']), { kind: 'version', text: 'Kubernetes v1.34.0+tubelet.0.1.0\n' });
  assert.deepEqual(load(['--version=raw']), {
    kind: 'version',
    text: 'version.Info{Major:"1", Minor:"34", GitVersion:"v1.34.0+tubelet.0.1.0"}\n',
  });
  assert.equal(run(['--version=false']).settings.version, 'v1.34.0+tubelet.0.1.0');
  assert.equal(run(['--version=v1.34.0-custom.1']).settings.version, 'v1.34.0-custom.1');
  assert.match(faults(['--version=v1.33.0'])[0] ?? '', /must begin with v1.34.0/);
  assert.equal(load(['--help', '--nope']).kind, 'error');
});

test('settings are frozen to the bottom', () => {
  const { settings } = run(['--node-labels=a=b', '--cluster-dns=10.0.0.1', '--vmodule=a=1']);
  const { config } = settings;
  for (const part of [
    settings,
    settings.flags,
    settings.flags.nodeLabels,
    config,
    config.clusterDNS,
    config.logging.vmodule[0],
  ]) {
    assert.ok(Object.isFrozen(part));
  }
  assert.ok(Object.isFrozen(config.authentication.webhook.cacheTTL) && Object.isFrozen(settings.provenance));
});
