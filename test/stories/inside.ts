import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { container, type Fields } from './plan.ts';
import { isReady, type OpenStage, type Stage } from './stage.ts';
import { story } from './story.ts';

/** What containers find around them. */
export function insideStories(open: OpenStage): void {
  void describe('a container finds', { concurrency: true }, () => {
    environmentStory(open);
    nameStories(open);
  });
}

const field = (name: string, fieldPath: string): Fields => ({ name, valueFrom: { fieldRef: { fieldPath } } });
const resource = (name: string, resource: string, divisor?: string): Fields => ({
  name,
  valueFrom: { resourceFieldRef: { resource, ...(divisor !== undefined && { divisor }) } },
});

async function giveObjects(stage: Stage): Promise<void> {
  const of = (kind: string, name: string, more: Fields): Fields => ({
    apiVersion: 'v1',
    kind,
    metadata: { name },
    ...more,
  });
  await stage.giveObject('a-settings', of('ConfigMap', 'settings', { data: { color: 'green', SIZE: 'large' } }));
  const data = { key: Buffer.from('hidden').toString('base64') };
  await stage.giveObject('a-token', of('Secret', 'token', { data, stringData: { PIN: '1234' } }));
}

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

function environmentStory(open: OpenStage): void {
  story(
    open,
    'in its environment literal, expanded and referred values, and the objects of the folder',
    async (stage) => {
      await giveObjects(stage);
      const main = container(
        'main',
        {},
        {
          command: ['sh', '-c', 'trap "exit 0" TERM; sleep 1000 & wait', '$(GREETING)'],
          args: ['$(POD_NAME)', '$$(GREETING)', '$(NOBODY)', '$(COLOR)'],
          workingDir: '/var/www',
          env,
          envFrom: [{ prefix: 'SET_', configMapRef: { name: 'settings' } }, { secretRef: { name: 'token' } }],
          resources: { requests: { cpu: '100m', memory: '32Mi' }, limits: { cpu: '250m', memory: '64Mi' } },
        },
      );
      const pod = await stage.give({
        name: 'environment',
        spec: { hostname: 'box' },
        metadata: { labels: { app: 'inside' }, annotations: { 'example.com/note': 'two words' } },
        containers: [main],
      });
      const { metadata, spec, status } = await pod.when('is ready', isReady);
      assert.match(status?.podIP ?? '', /^\d+\.\d+\.\d+\.\d+$/);
      assert.match(status?.hostIP ?? '', /^\d+\.\d+\.\d+\.\d+$/);
      const expected = {
        GREETING: 'hello',
        // References reach backwards only.
        BOTH: 'hello, $(POD_NAME)!',
        ESCAPED: '$(GREETING)',
        LATER: '$(AFTER)',
        AFTER: 'after',
        CALL: `hello ${pod.name} $(NOBODY)`,
        POD_NAME: pod.name,
        POD_NAMESPACE: 'default',
        POD_UID: metadata?.uid,
        POD_IP: status?.podIP,
        POD_IPS: status?.podIPs?.map(({ ip }) => ip).join(','),
        NODE_NAME: spec?.nodeName,
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
      const found = await pod.inside('main').env();
      assert.deepEqual(Object.fromEntries(Object.keys(expected).map((key) => [key, found[key]])), expected);
      const { words, folder } = await pod.inside('main').process();
      assert.equal(folder, '/var/www');
      assert.deepEqual(words.slice(3), ['hello', pod.name, '$(GREETING)', '$(NOBODY)', 'green']);
    },
  );
}

function nameStories(open: OpenStage): void {
  const entriesOf = (hosts: string): readonly string[] =>
    hosts.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

  story(open, 'its own hostname and domain, host aliases and the DNS servers of its choice', async (stage) => {
    const pod = await stage.give({
      name: 'names',
      spec: {
        hostname: 'box',
        subdomain: 'sub',
        hostAliases: [{ ip: '10.1.2.3', hostnames: ['one.test', 'two.test'] }],
        dnsPolicy: 'None',
        dnsConfig: {
          nameservers: ['10.9.8.7', '10.9.8.6'],
          searches: ['a.test', 'b.test'],
          options: [{ name: 'ndots', value: '3' }, { name: 'rotate' }],
        },
      },
      containers: [container('main')],
    });
    const { status } = await pod.when('is ready', isReady);
    const inside = pod.inside('main');
    assert.equal(await inside.hostname(), 'box');
    const hosts = await inside.hosts();
    assert.ok(hosts.startsWith('# Kubernetes-managed hosts file.\n'), hosts);
    assert.ok(entriesOf(hosts).includes('127.0.0.1\tlocalhost'), hosts);
    assert.deepEqual(entriesOf(hosts).slice(-2), [
      `${status?.podIP}\tbox.sub.default.svc.cluster.test\tbox`,
      '10.1.2.3\tone.test\ttwo.test',
    ]);
    assert.deepEqual(await inside.resolvConf(), {
      nameserver: ['10.9.8.7', '10.9.8.6'],
      search: ['a.test', 'b.test'],
      options: ['ndots:3', 'rotate'],
    });
  });

  story(open, 'the name of its pod, and DNS servers of the machine where it shall have them', async (stage) => {
    const pod = await stage.give({
      name: 'plain-names',
      spec: { dnsPolicy: 'Default' },
      containers: [container('main')],
    });
    const { status } = await pod.when('is ready', isReady);
    const inside = pod.inside('main');
    assert.equal(await inside.hostname(), pod.name);
    assert.deepEqual(entriesOf(await inside.hosts()).at(-1), `${status?.podIP}\t${pod.name}`);
    assert.deepEqual(await inside.resolvConf(), stage.machine.resolver);
  });

  story(open, 'the names of the machine in its network', async (stage) => {
    const pod = await stage.give({ name: 'host-names', spec: { hostNetwork: true }, containers: [container('main')] });
    const { status } = await pod.when('is ready', isReady);
    const inside = pod.inside('main');
    assert.equal(await inside.hostname(), stage.machine.hostname);
    assert.equal(await inside.hosts(), `# Kubernetes-managed hosts file (host network).\n${stage.machine.hosts}`);
    assert.equal(status?.podIP, status?.hostIP);
  });
}
