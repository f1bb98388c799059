import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { parseKubeconfig } from './parse-kubeconfig.ts';

const parse = (text: string, context?: string) =>
  parseKubeconfig(text, { file: '/etc/kubernetes/kubelet.conf', ...(context !== undefined && { context }) });
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A kubeconfig of one context, with lines of a cluster and a user. */
const config = (cluster: string, user = '') => `
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: k, user: u, namespace: ns}}]
clusters:
- name: k
  cluster:
    server: https://10.0.0.1:6443
${cluster}
users:
- name: u
  user:
    x: y
${user}
`;

describe('a kubeconfig', () => {
  test('as a Go kubelet writes it', () => {
    const { user, server, ...rest } = parse(
      config(
        `    certificate-authority-data: ${base64('CA')}`,
        '    client-certificate: pki/a.pem\n    client-key: /b.pem',
      ),
    );
    assert.equal(server.href, 'https://10.0.0.1:6443/');
    assert.deepEqual(rest, {
      certificateAuthority: { data: 'CA' },
      insecureSkipTlsVerify: false,
      disableCompression: false,
      namespace: 'ns',
    });
    assert.deepEqual(user, {
      clientCertificate: { file: '/etc/kubernetes/pki/a.pem' },
      clientKey: { file: '/b.pem' },
    });
  });

  test('data counts before files, and secrets are masked', () => {
    const { user } = parse(
      config(
        '',
        `    client-certificate-data: ${base64('C')}\n    client-certificate: a\n    client-key-data: ${base64('K3Y')}\n` +
          '    token: t0ken\n    tokenFile: ../token',
      ),
    );
    assert.deepEqual(user.clientCertificate, { data: 'C' });
    assert.equal(user.clientKey !== undefined && 'data' in user.clientKey && user.clientKey.data.reveal(), 'K3Y');
    assert.equal(user.token?.reveal(), 't0ken');
    assert.equal(user.tokenFile, '/etc/token');
    assert.doesNotMatch(inspect(user, { depth: 9 }) + JSON.stringify(user), /K3Y|t0ken/);
  });

  test('with everything a cluster may have', () => {
    const access = parse(
      config(
        '    tls-server-name: api\n    insecure-skip-tls-verify: true\n    proxy-url: http://p:1\n    disable-compression: true\n' +
          '    extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: x}}]',
        '    username: me\n    password: hunter2',
      ),
    );
    assert.equal(access.tlsServerName, 'api');
    assert.ok(access.insecureSkipTlsVerify && access.disableCompression);
    assert.equal(access.proxyUrl, 'http://p:1');
    assert.deepEqual(access.execConfig, { audience: 'x' });
    assert.deepEqual(access.user.basic?.reveal(), { username: 'me', password: 'hunter2' });
  });

  test('with an exec plugin', () => {
    const exec = (lines: string) => parse(config('', `    exec:\n${lines}`)).user.exec!;
    const v1 = '      apiVersion: client.authentication.k8s.io/v1\n';
    const plugin = exec(
      `${v1}      command: ./bin/login\n      args: [a]\n      env: [{name: A, value: b}]\n      interactiveMode: Never`,
    );
    assert.deepEqual(
      { ...plugin, env: plugin.env.reveal() },
      {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: '/etc/kubernetes/bin/login',
        args: ['a'],
        env: { A: 'b' },
        provideClusterInfo: false,
      },
    );
    assert.equal(exec(`${v1}      command: login\n      interactiveMode: IfAvailable`).command, 'login');
    assert.throws(() => exec(`${v1}      command: login`), /interactiveMode: must be Never or IfAvailable/);
    assert.throws(
      () => exec(`${v1}      command: login\n      interactiveMode: Always`),
      /an agent has no user to ask/,
    );
    assert.throws(() => exec('      command: login'), /apiVersion: must be/);
  });

  const broken: readonly (readonly [string, string, RegExp])[] = [
    ['empty', '', /the kubeconfig is empty/],
    ['no context', 'contexts: [{name: a}, {name: b}]', /current-context: missing; set it to a or b/],
    ['unknown context', 'current-context: x\ncontexts: [{name: a, context: {}}]', /no context is called x; there is a/],
    [
      'unknown cluster',
      'current-context: a\ncontexts: [{name: a, context: {cluster: k}}]',
      /no cluster is called k; there is none/,
    ],
    ['no cluster', 'current-context: a\ncontexts: [{name: a, context: {}}]', /cluster: missing/],
    ['no server', config('').replace('server:', 'serve:'), /server: missing; write https/],
    ['bad server', config('').replace('https://', ''), /server: no address such as/],
    ['bad data', config('    certificate-authority-data: "!"'), /kubelet\.conf:10: .*expected base64/],
    ['contradiction', config('    certificate-authority: a\n    insecure-skip-tls-verify: true'), /remove one of them/],
    ['half a pair', config('', '    client-key: a'), /go together/],
    ['two ways', config('', '    token: a\n    username: b'), /exclude each other/],
    ['old plugin', config('', '    auth-provider: {name: gcp}'), /use exec/],
    ['impersonation', config('', '    as: root'), /not supported/],
    ['wrong type', config('', '    token: 5'), /token: expected text, got a number; put it in quotes/],
    ['no mapping', '[]', /expected a mapping/],
  ];
  for (const [name, text, pattern] of broken) {
    test(`reports the fault: ${name}`, () => {
      assert.throws(
        () => parse(text),
        (error: Error & { kind?: string }) => {
          assert.equal(error.kind, 'invalid');
          assert.match(error.message, pattern);
          assert.match(error.message, /^\/etc\/kubernetes\/kubelet\.conf/);
          return true;
        },
      );
    });
  }

  test('reports every fault at once', () => {
    const text = config('    certificate-authority-data: "!"', '    token: 5\n    client-key: a');
    assert.throws(
      () => parse(text),
      (error: Error) => error.message.split('\n').length === 3,
    );
  });
});
