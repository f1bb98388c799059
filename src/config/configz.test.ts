import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { toConfigz } from './configz.ts';
import { loadSettings } from './load.ts';

const golden = JSON.parse(readFileSync('test/golden/node/configz.json', 'utf8')) as { kubeletconfig: object };

/** Placeholders of the recording are treated as real paths, so that no value must be translated. */
function configzOf(file: object): object {
  const result = loadSettings({
    argv: ['--config=/k', '--kubeconfig=/kc'],
    version: '1',
    cwd: '/',
    readFile: () =>
      JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...file }),
    listDir: assert.fail,
  });
  assert.equal(result.kind, 'run', JSON.stringify(result));
  return result.kind === 'run' ? toConfigz(result.settings.config) : {};
}

/** What the operator of the recorded node had set. */
const operator = {
  staticPodPath: '/{{path}}',
  readOnlyPort: 10255,
  tlsCertFile: '/{{path}}',
  tlsPrivateKeyFile: '/{{path}}',
  authentication: { x509: { clientCAFile: '/{{pki}}/ca.crt' } },
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

test('the page of the recorded node, byte for byte', () => {
  const text = JSON.stringify(configzOf(operator)).replaceAll('"/{{', '"{{');
  assert.equal(text, JSON.stringify(golden.kubeletconfig));
});

test('secrets are masked and nothing else is', () => {
  const open = { staticPodURL: 'https://pods.example/list?a=b@c', staticPodURLHeader: {} };
  const secret = {
    staticPodURL: 'https://me:hunter2@pods.example/list?a=b@c',
    staticPodURLHeader: { Authorization: ['Bearer hunter2', 'hunter2'], 'X-Other': ['hunter2'] },
  };
  const shown = configzOf({ ...operator, ...secret });
  assert.equal(JSON.stringify(shown).includes('hunter2'), false);
  assert.deepEqual(shown, {
    ...configzOf({ ...operator, ...open }),
    staticPodURL: 'https://<masked>@pods.example/list?a=b@c',
    staticPodURLHeader: { Authorization: ['<masked>', '<masked>'], 'X-Other': ['<masked>'] },
  });
});
