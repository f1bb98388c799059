import assert from 'node:assert/strict';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '../../src/gen/kubernetes/types.ts';
import { RealNode } from '../support/real-node.ts';
import { endedPod, podOf, saidBy, shell } from '../support/real-pods.ts';
import { nodeName } from '../support/real-runtime.ts';

/** What pods see from inside their containers. All of them start at once; each test waits for its own. */
let node: RealNode;
before(async () => {
  node = await RealNode.start('inside');
  for (const put of [putEnvironment, putNames, putSharing]) put(node.image);
  await node.workingAgent(['--cluster-domain=cluster.test']);
});
after(() => node?.destroy());

const put = (name: string, spec: object, metadata?: object): void =>
  node.put(name, podOf(name, { restartPolicy: 'Never', ...spec }, { ...metadata }));
/** Waits for the end of a pod whose programs all do what they should. */
async function succeeded(name: string): Promise<Pod> {
  const pod = await endedPod(node, name);
  assert.equal(pod.status?.phase, 'Succeeded', JSON.stringify(pod.status));
  return pod;
}
const said = async (name: string, container = 'main'): Promise<readonly string[]> =>
  saidBy(node, await succeeded(name), container);

function putEnvironment(image: string): void {
  node.put('a-settings', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'settings' },
    data: { color: 'green', SIZE: 'large' },
  });
  node.put('a-token', {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'token' },
    data: { key: Buffer.from('hidden').toString('base64') },
    stringData: { PIN: '1234' },
  });
  const field = (name: string, fieldPath: string): object => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  const resource = (name: string, resource: string, divisor?: string): object => ({
    name,
    valueFrom: { resourceFieldRef: { resource, divisor } },
  });
  const env = [
    { name: 'GREETING', value: 'hello' },
    { name: 'BOTH', value: '$(GREETING), $(POD_NAME)!' },
    { name: 'ESCAPED', value: '$$(GREETING)' },
    { name: 'LATER', value: '$(AFTER)' },
    { name: 'AFTER', value: 'after' },
    field('POD_NAME', 'metadata.name'),
    { name: 'CALL', value: '$(GREETING) $(POD_NAME) $(NOBODY)' },
    field('POD_NAMESPACE', 'metadata.namespace'),
    field('POD_UID', 'metadata.uid'),
    field('POD_IP', 'status.podIP'),
    field('POD_IPS', 'status.podIPs'),
    field('NODE_NAME', 'spec.nodeName'),
    field('HOST_IP', 'status.hostIP'),
    field('LABEL', "metadata.labels['app']"),
    field('NOTE', "metadata.annotations['example.com/note']"),
    resource('CPU_LIMIT', 'limits.cpu', '1m'),
    resource('CPU_REQUEST', 'requests.cpu'),
    resource('MEMORY_LIMIT', 'limits.memory'),
    resource('MEMORY_REQUEST', 'requests.memory', '1Mi'),
    { name: 'COLOR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'color' } } },
    { name: 'SECRET', valueFrom: { secretKeyRef: { name: 'token', key: 'key' } } },
    { name: 'ABSENT', valueFrom: { secretKeyRef: { name: 'none', key: 'key', optional: true } } },
  ];
  const main = {
    name: 'main',
    image,
    command: ['sh', '-c', 'env; pwd; for word in "$0" "$@"; do echo "word: $word"; done', '$(GREETING)'],
    args: ['$(POD_NAME)', '$$(GREETING)', '$(NOBODY)', '$(COLOR)'],
    workingDir: '/var/www',
    env,
    envFrom: [{ prefix: 'SET_', configMapRef: { name: 'settings' } }, { secretRef: { name: 'token' } }],
    resources: { requests: { cpu: '100m', memory: '32Mi' }, limits: { cpu: '250m', memory: '64Mi' } },
  };
  const metadata = { labels: { app: 'inside' }, annotations: { 'example.com/note': 'two words' } };
  put('environment', { hostname: 'box', containers: [main] }, metadata);
}

describe('the environment of a container', () => {
  test('has literal, expanded and referred values, and those of ConfigMaps and Secrets of the folder', async () => {
    const { metadata, status } = await succeeded('environment');
    const found = Object.fromEntries(
      (await said('environment')).map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]),
    );
    const name = `environment-${nodeName}`;
    const expected = {
      GREETING: 'hello',
      // References reach backwards only.
      BOTH: 'hello, $(POD_NAME)!',
      ESCAPED: '$(GREETING)',
      LATER: '$(AFTER)',
      AFTER: 'after',
      CALL: `hello ${name} $(NOBODY)`,
      POD_NAME: name,
      POD_NAMESPACE: 'default',
      POD_UID: metadata?.uid,
      POD_IP: status?.podIP,
      POD_IPS: status?.podIPs?.map(({ ip }) => ip).join(','),
      NODE_NAME: nodeName,
      HOST_IP: status?.hostIP,
      LABEL: 'inside',
      NOTE: 'two words',
      CPU_LIMIT: '250',
      CPU_REQUEST: '1',
      MEMORY_LIMIT: String(64 * 2 ** 20),
      MEMORY_REQUEST: '32',
      COLOR: 'green',
      SECRET: 'hidden',
      SET_color: 'green',
      SET_SIZE: 'large',
      key: 'hidden',
      PIN: '1234',
      ABSENT: undefined,
      HOSTNAME: 'box',
    };
    assert.match(status?.podIP ?? '', /^\d+\.\d+\.\d+\.\d+$/);
    assert.match(status?.hostIP ?? '', /^\d+\.\d+\.\d+\.\d+$/);
    assert.deepEqual(Object.fromEntries(Object.keys(expected).map((key) => [key, found[key]])), expected);
  });

  test('is expanded in command and arguments, which run in the working directory', async () => {
    const output = await said('environment');
    assert.ok(output.includes('/var/www'), output.join('\n'));
    assert.deepEqual(
      output.filter((line) => line.startsWith('word: ')).map((line) => line.slice(6)),
      ['hello', `environment-${nodeName}`, '$(GREETING)', '$(NOBODY)', 'green'],
    );
  });
});

function putNames(image: string): void {
  const show = shell('main', image, 'hostname; echo --; cat /etc/hosts; echo --; cat /etc/resolv.conf');
  put('names', {
    hostname: 'box',
    subdomain: 'sub',
    hostAliases: [{ ip: '10.1.2.3', hostnames: ['one.test', 'two.test'] }],
    dnsPolicy: 'None',
    dnsConfig: {
      nameservers: ['10.9.8.7', '10.9.8.6'],
      searches: ['a.test', 'b.test'],
      options: [{ name: 'ndots', value: '3' }, { name: 'rotate' }],
    },
    containers: [show],
  });
  put('plain-names', { dnsPolicy: 'Default', containers: [show] });
  put('host-names', { hostNetwork: true, containers: [show, shell('network', image, 'readlink /proc/self/ns/net')] });
}

describe('the names a container knows', () => {
  /** Hostname, hosts file and resolv.conf as the pod showed them. */
  const shown = async (name: string): Promise<readonly string[]> => (await said(name)).join('\n').split('\n--\n');

  test('are its own hostname and domain, host aliases and the DNS servers of its choice', async () => {
    const [name, hosts = '', resolv = ''] = await shown('names');
    const ip = (await succeeded('names')).status?.podIP;
    assert.equal(name, 'box');
    const entries = hosts.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    assert.ok(hosts.startsWith('# Kubernetes-managed hosts file.\n'), hosts);
    assert.ok(entries.includes('127.0.0.1\tlocalhost'), hosts);
    assert.deepEqual(entries.slice(-2), [
      `${ip}\tbox.sub.default.svc.cluster.test\tbox`,
      '10.1.2.3\tone.test\ttwo.test',
    ]);
    assert.deepEqual(resolverWords(resolv), {
      nameserver: ['10.9.8.7', '10.9.8.6'],
      search: ['a.test', 'b.test'],
      options: ['ndots:3', 'rotate'],
    });
  });

  test('are by default those of the pod, and DNS servers of the machine where it shall have them', async () => {
    const [name, hosts = '', resolv = ''] = await shown('plain-names');
    const ip = (await succeeded('plain-names')).status?.podIP;
    assert.equal(name, `plain-names-${nodeName}`);
    assert.deepEqual(hosts.split('\n').slice(-1), [`${ip}\tplain-names-${nodeName}`]);
    assert.deepEqual(resolverWords(resolv), resolverWords(readFileSync('/etc/resolv.conf', 'utf8')));
  });

  test('are those of the machine in its network', async () => {
    const [name, hosts = ''] = await shown('host-names');
    const { status } = await succeeded('host-names');
    assert.equal(name, hostname());
    assert.equal(
      hosts,
      `# Kubernetes-managed hosts file (host network).\n${readFileSync('/etc/hosts', 'utf8')}`.trimEnd(),
    );
    assert.deepEqual(await said('host-names', 'network'), [readlinkSync('/proc/self/ns/net')]);
    assert.equal(status?.podIP, status?.hostIP);
  });

  function resolverWords(text: string): Record<string, readonly string[]> {
    const words: Record<string, string[]> = { nameserver: [], search: [], options: [] };
    for (const line of text.split('\n')) {
      const [keyword = '', ...values] = line.split(/\s+/);
      if (keyword in words) words[keyword] = [...(words[keyword] ?? []), ...values.filter((value) => value !== '')];
    }
    return words;
  }
});

function putSharing(image: string): void {
  const volumes = [{ name: 'data', emptyDir: {} }];
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  const seenMain = 'cat /proc/1/comm; while ! ps | grep -q "[s]leep 4242"; do sleep 0.1; done; echo seen > /data/seen';
  put('sharing', {
    shareProcessNamespace: true,
    volumes,
    containers: [
      shell(
        'writer',
        image,
        'echo word > /data/word; sleep 4242 & until [ -f /data/seen ]; do sleep 0.1; done; kill $!',
        {
          volumeMounts,
        },
      ),
      shell('reader', image, `until [ -s /data/word ]; do sleep 0.1; done; cat /data/word; ${seenMain}`, {
        volumeMounts,
      }),
      shell('mode', image, 'stat -c %a /data', { volumeMounts }),
    ],
  });
  const terminal = 'for fd in 0 1; do if [ -t $fd ]; then echo terminal; else echo none; fi; done';
  put('alone', {
    containers: [
      shell('plain', image, `${terminal}; cat /proc/1/comm; readlink /proc/self/fd/0`),
      shell('tty', image, terminal, { tty: true, stdin: true }),
      shell('stdin', image, 'readlink /proc/self/fd/0', { stdin: true }),
    ],
  });
}

describe('the containers of a pod', () => {
  test('share emptyDir volumes, and processes where they shall', async () => {
    // The first process is that of the sandbox.
    assert.deepEqual(await said('sharing', 'reader'), ['word', 'catatonit']);
    assert.deepEqual(await said('sharing', 'mode'), ['777']);
  });

  test('have processes of their own otherwise, and a terminal and an input only when they want one', async () => {
    assert.deepEqual(await said('alone', 'plain'), ['none', 'none', 'sh', '/dev/null']);
    assert.deepEqual(
      (await said('alone', 'tty')).map((line) => line.trim()),
      ['terminal', 'terminal'],
    );
    assert.match((await said('alone', 'stdin')).join(), /^pipe:/);
  });
});
