import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { loadSettings } from './load.ts';
import { toV1beta1, type JsonObject } from './print.ts';

const golden = JSON.parse(readFileSync('test/golden/node/configz.json', 'utf8')) as { kubeletconfig: JsonObject };

/** What the operator of the recorded node had set; all else there is a default. */
const operatorFile = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  staticPodPath: '/manifests',
  readOnlyPort: 10255,
  tlsCertFile: '/tls.crt',
  tlsPrivateKeyFile: '/tls.key',
  authentication: { x509: { clientCAFile: '/ca.crt' } },
  clusterDomain: 'cluster.local',
  clusterDNS: ['10.96.0.10'],
  imageGCHighThresholdPercent: 99,
  imageGCLowThresholdPercent: 98,
  maxPods: 250,
  evictionHard: { 'imagefs.available': '1%', 'memory.available': '100Mi', 'nodefs.available': '1%' },
  failSwapOn: false,
  logging: { verbosity: 2 },
  containerRuntimeEndpoint: 'unix:///run/ref-ctd/rec.sock',
};

function printed(file: object): JsonObject {
  const result = loadSettings({
    argv: ['--config=/k', '--kubeconfig=/kc'],
    version: '1',
    cwd: '/',
    readFile: () => JSON.stringify(file),
    listDir: assert.fail,
  });
  assert.equal(result.kind, 'run', JSON.stringify(result));
  return result.kind === 'run' ? toV1beta1(result.settings.config) : {};
}

/** The recording hides the paths of its machine. */
function withoutPaths(config: JsonObject): JsonObject {
  const text = JSON.stringify(config).replace(/"(\/(manifests|tls\.\w+)|\{\{path\}\})"/g, '"PATH"');
  return JSON.parse(text.replace(/"(\/|\{\{pki\}\}\/)ca\.crt"/g, '"CA"')) as JsonObject;
}

test('the configuration prints as the recorded node serves it, in the same order', () => {
  assert.equal(
    JSON.stringify(withoutPaths(printed(operatorFile)), undefined, 1),
    JSON.stringify(withoutPaths(golden.kubeletconfig), undefined, 1),
  );
});

test('the output can be read again and prints the same', () => {
  const { apiVersion, kind } = operatorFile;
  const rich = {
    ...operatorFile,
    staticPodURLHeader: { b: ['1', '2'], a: ['3'] },
    registerWithTaints: [{ key: 'a', effect: 'NoExecute' }],
    reservedMemory: [{ numaNode: 0, limits: { memory: '1024Mi' } }],
    logging: { vmodule: [{ filePattern: 'x', verbosity: 0 }] },
    tracing: {},
    userNamespaces: { idsPerPod: 65536 },
    podPidsLimit: 100,
    healthzPort: 0,
    resolvConf: '',
  };
  const first = printed(rich);
  assert.deepEqual(printed({ apiVersion, kind, ...first }), first);
  assert.deepEqual(first['reservedMemory'], [{ numaNode: 0, limits: { memory: '1Gi' } }]);
  assert.deepEqual(first['registerWithTaints'], [{ key: 'a', effect: 'NoExecute' }]);
  assert.deepEqual([first['healthzPort'], first['resolvConf'], first['tracing']], [0, '', {}]);
});
