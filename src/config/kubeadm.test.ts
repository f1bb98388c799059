import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { loadSettings } from './load.ts';

type LoadResult = ReturnType<typeof loadSettings>;

const config = readFileSync('test/golden/cgroups/kubeadm-config.yaml', 'utf8');
const files = JSON.parse(readFileSync('test/golden/cgroups/kubeadm-files.json', 'utf8')) as Readonly<
  Record<string, string>
>;
const args = [
  '--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf',
  '--kubeconfig=/etc/kubernetes/kubelet.conf',
  '--config=/var/lib/kubelet/config.yaml',
];

/** What the unit of the kubelet makes of the environment file: systemd splits at spaces. */
function argumentsOf(file: string): readonly string[] {
  const [, quoted] = /^KUBELET_KUBEADM_ARGS="(.*)"\n$/.exec(file) ?? [];
  assert.ok(quoted !== undefined, file);
  return quoted.split(' ');
}

function load(argv: readonly string[]): Extract<LoadResult, { kind: 'run' }> {
  const result = loadSettings({ argv, version: '0.1.0', cwd: '/', readFile: () => config, listDir: assert.fail });
  assert.ok(result.kind === 'run', JSON.stringify(result));
  return result;
}

describe('what kubeadm hands to a kubelet', () => {
  test('its configuration: zero durations are defaults, the rest is as it says', () => {
    const { settings, warnings } = load(args);
    assert.deepEqual(warnings, []);
    const { config: loaded, flags } = settings;
    assert.deepEqual(
      {
        staticPodPath: loaded.staticPodPath,
        clusterDNS: loaded.clusterDNS,
        clusterDomain: loaded.clusterDomain,
        clientCAFile: loaded.authentication.x509.clientCAFile,
        anonymous: loaded.authentication.anonymous.enabled,
        webhook: loaded.authentication.webhook.enabled,
        authorization: loaded.authorization.mode,
        healthz: `${loaded.healthzBindAddress}:${loaded.healthzPort}`,
        rotateCertificates: loaded.rotateCertificates,
        cgroupDriver: loaded.cgroupDriver,
        containerRuntimeEndpoint: loaded.containerRuntimeEndpoint,
      },
      {
        staticPodPath: '/etc/kubernetes/manifests',
        clusterDNS: ['10.96.0.10'],
        clusterDomain: 'cluster.local',
        clientCAFile: '/etc/kubernetes/pki/ca.crt',
        anonymous: false,
        webhook: true,
        authorization: 'Webhook',
        healthz: '127.0.0.1:10248',
        rotateCertificates: true,
        cgroupDriver: 'systemd',
        containerRuntimeEndpoint: 'unix:///var/run/containerd/containerd.sock',
      },
    );
    assert.deepEqual(
      [
        loaded.syncFrequency,
        loaded.fileCheckFrequency,
        loaded.httpCheckFrequency,
        loaded.nodeStatusUpdateFrequency,
        loaded.nodeStatusReportFrequency,
        loaded.streamingConnectionIdleTimeout,
        loaded.imageMinimumGCAge,
        loaded.evictionPressureTransitionPeriod,
        loaded.authentication.webhook.cacheTTL,
      ].map(String),
      ['1m0s', '20s', '20s', '10s', '5m0s', '4h0m0s', '2m0s', '5m0s', '2m0s'],
    );
    assert.equal(loaded.shutdownGracePeriod.nanos, 0n);
    assert.equal(flags.kubeconfig, '/etc/kubernetes/kubelet.conf');
    assert.equal(flags.bootstrapKubeconfig, '/etc/kubernetes/bootstrap-kubelet.conf');
  });

  for (const [name, file] of Object.entries(files).filter(([what]) => what.startsWith('kubeadm-flags.env'))) {
    test(`the flags of ${name}`, () => {
      const { settings } = load([...args, ...argumentsOf(file)]);
      const { flags, config: loaded } = settings;
      assert.equal(loaded.containerRuntimeEndpoint, 'unix:///var/run/containerd/containerd.sock');
      if (!name.includes('join')) return;
      assert.equal(flags.hostnameOverride, 'worker-7');
      assert.equal(flags.nodeIp, '10.0.0.7');
      assert.deepEqual(loaded.registerWithTaints, [
        { key: 'a', value: 'b', effect: 'NoSchedule' },
        { key: 'c', value: '', effect: 'NoExecute' },
      ]);
      assert.equal(loaded.logging.verbosity, 4);
    });
  }

  test('its configuration of this instance, which it merges into the other, names the same runtime', () => {
    const [, endpoint] = /^containerRuntimeEndpoint: "(.*)"\n$/.exec(files['instance-config.yaml'] ?? '') ?? [];
    assert.equal(endpoint, load(args).settings.config.containerRuntimeEndpoint);
  });
});

test('the version is what kubeadm looks for', () => {
  const result = loadSettings({
    argv: ['--version'],
    version: '0.1.0',
    cwd: '/',
    readFile: assert.fail,
    listDir: assert.fail,
  });
  assert.ok(result.kind === 'version');
  const [, version] =
    /^\s*Kubernetes v((0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)([-\w.+]*)?)\s*$/.exec(result.text) ?? [];
  assert.equal(version, '1.34.0+tubelet.0.1.0');
});
