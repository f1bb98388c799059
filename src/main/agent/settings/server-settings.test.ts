import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSettings, type Settings } from '../../../config/index.ts';
import { serverAccessSettings, serverSettings } from './server-settings.ts';

const alone = {
  authentication: { webhook: { enabled: false }, anonymous: { enabled: true } },
  authorization: { mode: 'AlwaysAllow' },
};

function settings(config: object, argv: readonly string[] = ['--kubeconfig=/kc']): Settings {
  const file = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    containerRuntimeEndpoint: 'unix:///r',
    ...config,
  };
  const readFile = (): string => JSON.stringify(file);
  const result = loadSettings({ argv: ['--config=/k', ...argv], version: '1', cwd: '/', readFile, listDir: () => [] });
  if (result.kind !== 'run') throw new Error(JSON.stringify(result));
  return result.settings;
}

const process = { version: 'v20', argv: ['tubelet'] };

test('port 0 and an empty path disable a listener', () => {
  const none = serverSettings(settings({ healthzPort: 0 }), { ...process, env: { TUBELET_READ_ONLY_SOCKET: '' } });
  assert.deepEqual([none.healthz, none.readOnly, none.socketPath], [undefined, undefined, undefined]);
  const env = { TUBELET_READ_ONLY_SOCKET: '/run/t.sock' };
  const all = serverSettings(
    settings({ healthzBindAddress: '127.0.0.1', healthzPort: 1, address: '127.0.0.2', readOnlyPort: 2, port: 3 }),
    { ...process, env },
  );
  assert.deepEqual(all.healthz, { address: '127.0.0.1', port: 1 });
  assert.deepEqual(all.readOnly, { address: '127.0.0.2', port: 2 });
  assert.deepEqual([all.secure.address, all.secure.port, all.socketPath], ['127.0.0.2', 3, '/run/t.sock']);
});

for (const [what, env, upstreamVerbs] of [
  ['exec needs a right of its own', {}, false],
  ['unless it is to be as in the Go kubelet', { TUBELET_STREAMING_VERBS: 'upstream' }, true],
] as const) {
  test(what, () => assert.equal(serverSettings(settings({}), { ...process, env }).access.upstreamVerbs, upstreamVerbs));
}

for (const [what, config, argv, query, isStandalone] of [
  ['in a cluster', {}, ['--kubeconfig=/kc'], false, false],
  ['without an API server', alone, [], false, true],
  [
    'node logs may be asked for where they are switched on',
    { enableSystemLogQuery: true, featureGates: { NodeLogQuery: true } },
    ['--kubeconfig=/kc'],
    true,
    false,
  ],
  ['and not by the gate alone', { featureGates: { NodeLogQuery: true } }, ['--kubeconfig=/kc'], false, false],
] as const) {
  test(what, () => {
    const served = serverSettings(settings(config, argv), { ...process, env: {} });
    assert.deepEqual([served.nodeLogQuery, served.isStandalone], [query, isStandalone]);
  });
}

test('without a secured port there are no access settings', () => {
  assert.equal(serverAccessSettings(settings({ enableServer: false }), 'n'), undefined);
  const { authentication, authorization } = serverAccessSettings(settings({}), 'n') ?? {};
  assert.equal(authorization?.mode, 'Webhook');
  assert.deepEqual([authentication?.anonymous, authentication?.webhookEnabled], [false, true]);
});
