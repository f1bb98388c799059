import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSettings, type Settings } from '../../../config/index.ts';
import { shownConfiguration } from './shown-configuration.ts';

function settings(config: object): Settings {
  const file = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    containerRuntimeEndpoint: 'unix:///r',
    ...config,
  };
  const result = loadSettings({
    argv: ['--config=/k', '--kubeconfig=/kc', '--cert-dir=/pki'],
    version: '1',
    cwd: '/',
    readFile: () => JSON.stringify(file),
    listDir: assert.fail,
  });
  if (result.kind !== 'run') throw new Error(JSON.stringify(result));
  return result.settings;
}

for (const [what, config, shown] of [
  ['the files of a certificate of our own', {}, ['/pki/kubelet.crt', '/pki/kubelet.key']],
  ['files that were given', { tlsCertFile: '/a', tlsPrivateKeyFile: '/b' }, ['/a', '/b']],
  ['no files where the cluster issues the certificate', { serverTLSBootstrap: true }, [undefined, undefined]],
] as const) {
  test(`shows ${what}`, () => {
    const { tlsCertFile, tlsPrivateKeyFile } = shownConfiguration(settings(config));
    assert.deepEqual([tlsCertFile, tlsPrivateKeyFile], shown);
  });
}
