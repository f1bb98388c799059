import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Event, PodSpec } from '../../src/gen/kubernetes/types.ts';
import { apiResources } from '../../src/model/api-resources.ts';
import type { JsonMap } from '../../src/model/patch-schema.ts';
import { routeTable, type RouteId } from '../../src/server/route-table.ts';
import { failsToStart, says } from '../../src/testing/fake-cri/index.ts';
import { aContainer, testImage } from '../../src/testing/pods.ts';
import { until } from '../support/real-wait.ts';
import { LimitNode } from './support/limit-node.ts';
import { TraceCollector } from './support/trace-collector.ts';

/** What no page, line, event, figure, trace or file may show. */
const canaries = {
  configMap: 'canary-in-a-configmap-4711',
  secret: 'canary-in-a-secret-4711',
  registry: 'canary-of-a-registry-4711',
  broken: 'canary-of-a-broken-registry-4711',
  env: 'canary-in-the-environment-4711',
  header: 'canary-in-a-probe-header-4711',
  hook: 'canary-in-a-hook-header-4711',
  argument: 'canary-in-a-probe-argument-4711',
  hookArgument: 'canary-in-a-hook-argument-4711',
  output: 'canary-in-the-output-4711',
  caller: 'canary-of-a-caller-4711',
  stranger: 'canary-of-a-stranger-4711',
  manifest: 'canary-in-a-manifest-4711',
};
type Canary = keyof typeof canaries;

/** Written into the pod's own spec, so that whoever may read pods reads them: upstream shows them at the same places. */
const inTheSpec: readonly Canary[] = ['env', 'header', 'hook', 'argument', 'hookArgument'];
/** A hook that failed is shown with its command in the status of its pod, whose spec has it too: the words of upstream. */
const inTheStatus: readonly Canary[] = ['hookArgument'];
/** What is shown by design: the specs of pods, and what a container itself has said. */
const byDesign: Partial<Record<RouteId, readonly Canary[]>> = { pods: inTheSpec, containerLogs: ['output'] };

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const registry = 'registry.example';
const auth = base64(`user:${canaries.registry}`);

/** Which of them stand in a text, as they are or encoded. */
function found(text: string, except: readonly Canary[] = [], more: Readonly<Record<string, string>> = {}) {
  const all = { ...canaries, ...more };
  const hits = Object.entries(all).filter(([, value]) => text.includes(value) || text.includes(base64(value)));
  if (text.includes(auth)) hits.push(['registry', auth]);
  return hits
    .filter(([name]) => !except.includes(name as Canary))
    .map(([name, value]) => `${name}: …${around(text, value)}…`);
}

function around(text: string, value: string): string {
  const at = Math.max(text.indexOf(value), text.indexOf(base64(value)));
  return text.slice(Math.max(0, at - 200), at + 60);
}

/** A runtime that says in its errors what it was given. */
const echo = (what: string): string =>
  `${what}: env=[A=${canaries.secret} B=${canaries.configMap} C=${canaries.env}] args=[--p=${canaries.secret}] ` +
  `config={"headers":[{"name":"X","value":"${canaries.hook}"}]}`;

const variables = [
  { name: 'A', valueFrom: { secretKeyRef: { name: 'planted', key: 'key' } } },
  { name: 'B', valueFrom: { configMapKeyRef: { name: 'planted', key: 'key' } } },
  { name: 'C', value: canaries.env },
];
const header = { httpHeaders: [{ name: 'Authorization', value: canaries.header }] };
const hook = { httpGet: { host: '127.0.0.1', port: 1, path: '/', httpHeaders: [{ name: 'X', value: canaries.hook }] } };
const often = { periodSeconds: 1, failureThreshold: 1, timeoutSeconds: 1 };
const probeCommand = ['check', '--password', canaries.argument];
const hookCommand = ['begin', '--password', canaries.hookArgument];

/** Pods in which something goes wrong, by what it is; the container is named like the pod. */
const pods: Readonly<Record<string, Partial<PodSpec>>> = {
  healthy: {
    serviceAccountName: 'robot',
    volumes: [
      { name: 's', secret: { secretName: 'planted' } },
      { name: 'c', configMap: { name: 'planted' } },
      { name: 't', projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3_600 } }] } },
    ],
    containers: [
      aContainer('healthy', {
        env: variables,
        envFrom: [{ secretRef: { name: 'planted' } }],
        command: ['serve', '--password=$(A)'],
        readinessProbe: { exec: { command: probeCommand }, ...often },
        volumeMounts: ['s', 'c', 't'].map((name) => ({ name, mountPath: `/${name}` })),
      }),
    ],
  },
  'not-created': {
    containers: [aContainer('not-created', { env: variables, args: ['--p=$(A)'], lifecycle: { preStop: hook } })],
  },
  'not-started': { containers: [aContainer('not-started', { env: variables, lifecycle: { preStop: hook } })] },
  'http-probe': {
    containers: [
      aContainer('http-probe', {
        livenessProbe: { httpGet: { host: '127.0.0.1', port: 1, path: '/', ...header }, ...often },
      }),
    ],
  },
  'exec-probe': {
    containers: [aContainer('exec-probe', { livenessProbe: { exec: { command: probeCommand }, ...often } })],
  },
  'start-hook': { containers: [aContainer('start-hook', { lifecycle: { postStart: hook } })] },
  'exec-hook': {
    containers: [aContainer('exec-hook', { lifecycle: { postStart: { exec: { command: hookCommand } } } })],
  },
  'stop-hook': { containers: [aContainer('stop-hook', { lifecycle: { preStop: hook } })] },
  'not-pulled': {
    imagePullSecrets: [{ name: 'registry' }, { name: 'broken-registry' }],
    containers: [aContainer('not-pulled', { image: `${registry}/not-pulled:1` })],
  },
  // What a variable stands for may be part of a path, which errors are about.
  'sub-path': {
    volumes: [{ name: 'v', emptyDir: {} }],
    containers: [
      aContainer('sub-path', {
        env: variables,
        volumeMounts: [{ name: 'v', mountPath: '/v', subPathExpr: '../$(A)' }],
      }),
    ],
  },
  'sub-path-in-the-way': {
    volumes: [{ name: 's', secret: { secretName: 'planted' } }],
    containers: [
      aContainer('sub-path-in-the-way', {
        env: variables,
        volumeMounts: [{ name: 's', mountPath: '/v', subPathExpr: 'key/$(A)' }],
      }),
    ],
  },
  'no-key': {
    containers: [
      aContainer('no-key', { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'planted', key: 'no' } } }] }),
    ],
  },
  'no-volume-key': {
    volumes: [{ name: 's', secret: { secretName: 'planted', items: [{ key: 'no', path: 'no' }] } }],
    containers: [aContainer('no-volume-key', { volumeMounts: [{ name: 's', mountPath: '/s' }] })],
  },
};

describe('a secret', () => {
  let node: LimitNode;
  let collector: TraceCollector;
  let token = '';

  before(async () => {
    collector = await TraceCollector.start();
    node = await LimitNode.start('secrets', {
      flags: ['--v=10'],
      configuration: {
        tracing: { endpoint: collector.endpoint, samplingRatePerMillion: 1_000_000 },
        featureGates: { ComponentStatusz: true, ComponentFlagz: true, KubeletEnsureSecretPulledImages: true },
      },
      allows: (spec) => mayReaderDo(spec),
    });
    plant(node);
    script(node);
    for (const [name, spec] of Object.entries(pods)) node.schedule(name, spec);
    await node.ready('healthy');
    token = tokenOf(node);
    for (const [pod, reason] of [
      ['not-created', 'Failed'],
      ['not-started', 'Failed'],
      ['http-probe', 'Unhealthy'],
      ['exec-probe', 'ProbeWarning|Unhealthy'],
      ['start-hook', 'FailedPostStartHook'],
      ['exec-hook', 'FailedPostStartHook'],
      ['not-pulled', 'Failed'],
      ['sub-path', 'Failed'],
      ['sub-path-in-the-way', 'Failed'],
      ['no-key', 'Failed'],
      ['no-volume-key', 'FailedMount'],
    ] as const) {
      await until(
        `pod ${pod} fails by ${reason}`,
        () => eventsOf(node, pod).some((e) => new RegExp(reason).test(e.reason ?? '')),
        {
          state: () => ({
            events: eventsOf(node, pod).map((e) => [e.reason, e.message]),
            log: node.agent.text.slice(-500),
          }),
        },
      );
    }
    await node.ready('stop-hook');
    await node.remove('stop-hook');
    await presentTokens(node);
    await giveBadManifests(node);
  });
  after(async () => {
    collector?.stop();
    // Volumes of secrets are mounted: they have to go before the folder can.
    for (const name of ['healthy', 'no-volume-key']) if (node?.pod(name) !== undefined) await node.remove(name);
    await node?.destroy();
  });

  test('is on no page that a reader can get, but where the pod itself shows it', async () => {
    const reader = await node.clientFiles('reader', ['readers']);
    const leaks: string[] = [];
    const answered: string[] = [];
    for (const [id, path] of pages()) {
      const { status, body } = await node.ask(path, reader);
      if (status === 200) answered.push(id);
      assert.notEqual(status, 500, `${path}: ${body}`);
      leaks.push(...found(body, byDesign[id], { token }).map((leak) => `${path}: ${leak}`));
      for (const port of [node.readOnlyPort, node.healthzPort]) {
        const open = await fetch(`http://127.0.0.1:${port}${path}`);
        leaks.push(...found(await open.text(), byDesign[id], { token }).map((leak) => `${port} ${path}: ${leak}`));
      }
    }
    const { pods } = JSON.parse((await node.ask('/debug/node', reader)).body) as { pods: { uid: string }[] };
    assert.notEqual(pods.length, 0);
    for (const { uid } of pods) {
      const { status, body } = await node.ask(`/debug/pods/${uid}`, reader);
      assert.equal(status, 200, body);
      leaks.push(...found(body, undefined, { token }).map((leak) => `/debug/pods/${uid}: ${leak}`));
    }
    assert.deepEqual(leaks, []);
    // That the pages were there at all.
    for (const id of ['pods', 'metrics', 'configz', 'flagz', 'statusz', 'profile', 'containerLogs', 'statsSummary'])
      assert.ok(answered.includes(id), `${id} of ${answered.join()}`);
  });

  test('can be had from memory only by who may run commands, and that is on record', async () => {
    const reader = await node.clientFiles('reader', ['readers']);
    const snapshot = '/debug/pprof/heapsnapshot';
    for (const path of [snapshot, '/debug/pprof/heapsnapsho%74', `${snapshot}/`, `${snapshot}?seconds=1`]) {
      const statuses = [];
      for (const method of ['GET', 'POST', 'PUT']) statuses.push((await node.ask(path, reader, { method })).status);
      assert.deepEqual(statuses, [403, 403, 403], path);
    }
    const { status, body } = await node.ask(snapshot, await node.clientFiles(), { method: 'POST' });
    assert.equal(status, 200);
    // It is what the right is for.
    assert.ok(body.includes(canaries.secret) || body.includes(base64(canaries.secret)));
    await node.agent.said(/"Audit" user="admin" .*path="\/debug\/pprof\/heapsnapshot".* outcome="200"/);
    await node.agent.said(/"Audit" user="reader" .*path="\/debug\/pprof\/heapsnapshot".* outcome="403"/);
  });

  test('is in no line of the log', () => {
    const text = node.agent.text;
    assert.deepEqual(found(text, [], { token, key: keyOf(node) }), []);
    // That they were used at all.
    assert.match(text, /tokenreviews/);
    for (const name of Object.keys(badManifests)) assert.match(text, new RegExp(`Bad static pod manifest.*${name}`));
  });

  test('is in no event and no status', () => {
    const events = node.api.objects.all<Event>(apiResources.events);
    const statuses = Object.keys(pods).map((name) => node.pod(name)?.status);
    assert.deepEqual(found(JSON.stringify(events), [], { token }), []);
    assert.deepEqual(found(JSON.stringify(statuses), inTheStatus, { token }), []);
  });

  test('is in nothing that is sent to the API server', () => {
    const bodies = node.api.requests().map(({ path, query, body }) => ({ path, query, body }));
    // Whose token it is only the API server knows.
    const reviews = bodies.filter(({ path }) => path.endsWith('/tokenreviews'));
    assert.ok(reviews.length >= 2);
    const told = bodies.filter((request) => !reviews.includes(request));
    const others = told.filter(({ path }) => !path.endsWith('/status'));
    assert.deepEqual(found(JSON.stringify(reviews), ['caller', 'stranger'], { token }), []);
    assert.deepEqual(found(JSON.stringify(told), inTheStatus, { token }), []);
    assert.deepEqual(found(JSON.stringify(others), [], { token }), []);
  });

  test('is in no trace', async () => {
    await until('failed calls are traced', () => collector.text.includes('CreateContainer'));
    assert.deepEqual(found(collector.text, [], { token }), []);
  });

  test('is in no file but those of volumes', () => {
    const files = filesBelow(node.rootDir).filter((path) => !/\/pods\/[^/]+\/volumes\//.test(path));
    assert.ok(files.some((path) => path.endsWith('pod_statuses_state')));
    const leaks = files.flatMap((path) => {
      const except = path.endsWith('pod_statuses_state') ? inTheStatus : [];
      return found(readFileSync(path, 'latin1'), except, { token }).map((leak) => `${path}: ${leak}`);
    });
    assert.deepEqual(leaks, []);
    const volumes = filesBelow(node.rootDir).filter((path) => /\/volumes\//.test(path));
    assert.ok(volumes.some((path) => found(readFileSync(path, 'latin1')).length > 0));
  });
});

/** Manifests with a value where it does not belong, by the name of the file. */
const badManifests: Readonly<Record<string, string>> = {
  'wrong-type.yaml': manifestOf(`{name: A, value: [${canaries.manifest}]}`),
  'wrong-source.yaml': manifestOf(`{name: A, valueFrom: ${canaries.manifest}}`),
  'no-yaml.yaml': manifestOf(`{name: A, value: "${canaries.manifest}}`),
  'no-yaml-either.yaml': manifestOf(`{name: A, value: ${canaries.manifest}: x: {`),
  'no-json.json': `{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"env":[{"name":"A","value":"${canaries.manifest}"`,
  'no-json-either.json': `{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"env":[{"name":"A","value":${canaries.manifest}`,
  'bad-name.yaml': manifestOf(`{name: "=", value: ${canaries.manifest}}`),
};

function manifestOf(env: string): string {
  const container = `{name: main, image: "${testImage}", env: [${env}]}`;
  return `apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nspec:\n  containers: [${container}]\n`;
}

async function giveBadManifests(node: LimitNode): Promise<void> {
  for (const [name, text] of Object.entries(badManifests)) node.putManifest(name, text);
  for (const name of Object.keys(badManifests)) await node.agent.said(new RegExp(`Bad static pod manifest.*${name}`));
}

/** A known caller and a stranger, each by its token. */
async function presentTokens(node: LimitNode): Promise<void> {
  node.api.tokens.add(canaries.caller, { name: 'caller', groups: ['system:authenticated'] });
  for (const [token, expected] of [
    [canaries.caller, 200],
    [canaries.stranger, 401],
  ] as const)
    assert.equal((await node.ask('/metrics', { token })).status, expected);
}

/** Some of what only the agent's own key has. */
function keyOf(node: LimitNode): string {
  const config = JSON.parse(readFileSync(join(node.path, 'kubeconfig'), 'utf8')) as {
    readonly users: readonly { readonly user: { readonly 'client-key-data': string } }[];
  };
  const key = Buffer.from(config.users[0]?.user['client-key-data'] ?? '', 'base64').toString();
  const [, line = ''] = key.split('\n');
  assert.ok(line.length > 40);
  return line;
}

/** The administrator may do everything, a reader look at everything. */
function mayReaderDo(spec: JsonMap): boolean {
  const { verb } = spec['resourceAttributes'] as JsonMap;
  return spec['user'] !== 'reader' || verb === 'get';
}

function plant({ api }: LimitNode): void {
  const metadata = { name: 'planted', namespace: 'default' };
  api.objects.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { key: canaries.configMap } });
  api.objects.put({ apiVersion: 'v1', kind: 'Secret', metadata, data: { key: base64(canaries.secret) } });
  const config = { auths: { [registry]: { username: 'user', password: canaries.registry, auth } } };
  const type = 'kubernetes.io/dockerconfigjson';
  const credentials = { registry: JSON.stringify(config), 'broken-registry': `{"auths": ${canaries.broken}` };
  for (const [name, text] of Object.entries(credentials)) {
    const data = { '.dockerconfigjson': base64(text) };
    api.objects.put({ apiVersion: 'v1', kind: 'Secret', type, metadata: { name, namespace: 'default' }, data });
  }
  api.objects.put({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'default' } });
}

function script({ cri }: LimitNode): void {
  const isOf = (name: string) => (request: unknown) => JSON.stringify(request, plainNumbers).includes(`"${name}"`);
  cri.faults.fail('createContainer', 'invalid', { message: echo('bad config'), when: isOf('not-created') });
  cri.programs.forContainer('not-started', failsToStart(echo('cannot start')));
  cri.programs.forContainer('healthy', says([canaries.output]));
  for (const [name, command] of [
    ['exec-probe', probeCommand],
    ['exec-hook', hookCommand],
  ] as const)
    cri.execs.forContainer(name, { failure: { kind: 'internal', message: `cannot run [${command.join(' ')}]` } });
  cri.images.scriptPulls(`${registry}/not-pulled:1`, {
    failure: { kind: 'denied', message: `denied: user:${canaries.registry}, Authorization: Basic ${auth}` },
  });
}

const plainNumbers = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value);

/** Every page of the table that a GET may ask, with the names of what is there. */
function pages(): readonly (readonly [RouteId, string])[] {
  const names: Readonly<Record<string, string>> = {
    namespace: 'default',
    pod: 'healthy',
    container: 'healthy',
    file: '',
  };
  const profiles = ['cmdline', 'symbol', 'profile', 'heap', 'allocs', 'trace', 'goroutine'];
  return (Object.keys(routeTable) as RouteId[]).flatMap((id): readonly (readonly [RouteId, string])[] => {
    const { path } = routeTable[id];
    if (id === 'profile') return profiles.map((name) => [id, `/debug/pprof/${name}?seconds=1`] as const);
    const filled = path.replaceAll(/\{(\w+)(?:\.\.\.)?\}/g, (_, name: string) => names[name] ?? 'none');
    return [[id, filled]];
  });
}

function eventsOf(node: LimitNode, pod: string): readonly Event[] {
  return node.api.objects.all<Event>(apiResources.events).filter((event) => event.involvedObject.name === pod);
}

function tokenOf(node: LimitNode): string {
  const path = filesBelow(node.rootDir).find((file) => /\/volumes\/.*\/token$/.test(file));
  assert.ok(path !== undefined, 'the token is in its volume');
  return readFileSync(path, 'utf8');
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
