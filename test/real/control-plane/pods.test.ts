import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Event, Pod } from '../../../src/gen/kubernetes/types.ts';
import type { PodEvent } from '../../../src/model/object-event.ts';
import { loadGolden, type GoldenRecord } from '../../../src/testing/golden.ts';
import { compareEvents } from '../../differential/compare-events.ts';
import { containerRoot } from '../../support/container-root.ts';
import { idle, podOf, saidBy, shell } from '../../support/real-pods.ts';
import { clock, until } from '../../support/real-wait.ts';
import { cameTooSoon, ClusterView, type Namespace } from './cluster-view.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { joinNode, type JoinedNode } from './join-node.ts';

type Fields = Readonly<Record<string, unknown>>;

let plane: ControlPlane;
let node: JoinedNode;
let view: ClusterView;
before(async () => {
  plane = await startControlPlane();
  node = await joinNode(plane);
  view = new ClusterView(plane);
});
after(async () => {
  view?.close();
  await node?.destroy();
  await plane?.stop();
});

const limit = '--timeout=120s';
const uidOf = (pod: Pod): string => pod.metadata?.uid ?? '';
const folderOf = (pod: Pod): string => join(node.names.kubeletRoot, 'pods', uidOf(pod));

/** A pod with one container that runs a script. */
const onePod = (here: Namespace, name: string, script: string, spec: Fields = {}, metadata: Fields = {}): object =>
  podOf(
    name,
    { terminationGracePeriodSeconds: 5, containers: [shell('main', node.image, script)], ...spec },
    { namespace: here.name, ...metadata },
  );

describe('pods of an API server', { concurrency: true }, () => {
  test('events read as those of a Go kubelet', async () => {
    const here = await view.namespace('events');
    const run = 'plain crash-loop liveness-exec readiness-http init-fails-never sidecar command-not-found';
    const wait = 'pull-fails pull-never env-missing-configmap vol-missing-secret';
    const names = `${run} ${wait}`.split(' ');
    await here.apply(...names.map((name) => goldenManifest(name, here.name)));
    await Promise.all(names.map((name) => sameEvents(here, name)));
  });

  test('kubectl describe tells the story of a pod', async () => {
    const here = await view.namespace('described');
    await here.apply(onePod(here, 'quiet', idle), onePod(here, 'loud', 'echo boom; exit 1'));
    await here.podReady('quiet');
    const began = await until('all is told', async () => {
      const rows = (await here.describedEvents('quiet')).filter((row) => !cameTooSoon(row));
      return rows.length === 4 && rows;
    });
    assert.deepEqual(
      began.map(({ type, reason, from, message }) => [type, reason, from, message]),
      [
        ['Normal', 'Scheduled', 'default-scheduler', `Successfully assigned described/quiet to ${node.name}`],
        ['Normal', 'Pulled', 'kubelet', `Container image "${node.image}" already present on machine`],
        ['Normal', 'Created', 'kubelet', 'Created container: main'],
        ['Normal', 'Started', 'kubelet', 'Started container main'],
      ],
    );
    const loud = await here.podWhen('loud', 'was restarted', ({ status }) => restarts(status) >= 1);
    const message = `Back-off restarting failed container main in pod loud_described(${uidOf(loud)})`;
    await until('restarts are counted, not listed', async () => {
      const rows = await here.describedEvents('loud');
      const counted = rows.filter(({ age }) => /^\S+ \(x\d+ over \S+\)$/.test(age)).map(({ reason }) => reason);
      return (
        rows.some((row) => row.reason === 'BackOff' && row.message === message && row.from === 'kubelet') &&
        ['Pulled', 'Created', 'Started'].every((reason) => counted.includes(reason))
      );
    });
    const [row] = (await here.kubectl('get', 'pod', 'loud', '--no-headers')).split('\n');
    assert.match(row ?? '', /^loud +0\/1 +(CrashLoopBackOff|Error) +\d/);
  });

  test('objects, services and the API server are within reach', async () => {
    const here = await view.namespace('objects');
    await here.kubectl('create', 'rolebinding', 'readers', '--clusterrole=view', '--serviceaccount=objects:default');
    await here.apply(...objectsOf(here));
    const pod = await here.podReady('mixed');
    const said = await until('it has said all', () => {
      const lines = saidBy(node, pod, 'main');
      return lines.length >= 4 && lines;
    });
    const service = await here.get<{ readonly spec: { readonly clusterIP: string } }>('services', 'web');
    assert.deepEqual(said.slice(0, 3), [
      'one s3cret',
      `${service?.spec.clusterIP} 80 tcp://${plane.serviceAddress}:443`,
      'one s3cret',
    ]);
    // By the token of its service account, from inside, by the address of the service.
    const own = JSON.parse(said[3] ?? '') as Pod;
    assert.equal(uidOf(own), uidOf(pod));
    assert.equal(own.metadata?.name, 'mixed');

    const claims = tokenClaims(pod);
    assert.equal(claims['sub'], 'system:serviceaccount:objects:default');
    const { pod: bound, node: at } = claims['kubernetes.io'] as Record<string, { name: string; uid: string }>;
    assert.deepEqual([bound, at?.name], [{ name: 'mixed', uid: uidOf(pod) }, node.name]);
    assert.equal(readFileSync(accessFile(pod, 'ca.crt'), 'utf8'), plane.authority.pem.toString());

    await here.kubectl('label', 'pod', 'mixed', 'color=blue');
    await here.kubectl('annotate', 'pod', 'mixed', 'note=seen');
    const fact = (name: string): string =>
      readFileSync(join(folderOf(pod), 'volumes', 'kubernetes.io~downward-api', 'facts', name), 'utf8');
    await until('labels reach the volume', () => fact('labels') === 'color="blue"');
    await until('annotations reach the volume', () => fact('annotations').split('\n').includes('note="seen"'));
    assert.equal(restarts((await here.podReady('mixed')).status), 0);

    // What it waits for may come later.
    const late = { ...shell('main', node.image, idle), volumeMounts: [{ name: 'keys', mountPath: '/keys' }] };
    const volumes = [{ name: 'keys', secret: { secretName: 'later' } }];
    await here.apply(onePod(here, 'late', '', { containers: [late], volumes }));
    await until('it waits', async () => reasons(await here.eventsOf('late')).includes('FailedMount'));
    await here.kubectl('create', 'secret', 'generic', 'later', '--from-literal=key=value');
    await here.podReady('late');
    await here.kubectl('delete', 'pod', 'mixed', 'late', limit);
  });

  test('who cannot run here is told so', async () => {
    const here = await view.namespace('rejected');
    const nodeName = node.name;
    const container = shell('main', node.image, idle, { resources: { requests: { cpu: '64' } } });
    await here.apply(
      onePod(here, 'elsewhere', idle, { nodeName, nodeSelector: { disk: 'ssd' } }),
      onePod(here, 'hungry', idle, { nodeName, containers: [container] }),
    );
    const affinity = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
    const cases = [
      ['elsewhere', 'NodeAffinity', `Pod was rejected: ${affinity}`],
      ['hungry', 'OutOfcpu', /^Pod was rejected: Node didn't have enough resource: cpu, requested: 64000, used: \d+, /],
    ] as const;
    for (const [name, reason, message] of cases) {
      const { status } = await here.podWhen(name, 'is rejected', ({ status }) => status?.phase === 'Failed');
      assert.equal(status?.reason, reason);
      if (typeof message === 'string') assert.equal(status?.message, message);
      else assert.match(status?.message ?? '', message);
      assert.match(await here.kubectl('get', 'pod', name, '--no-headers'), new RegExp(`^${name} +0/1 +${reason} `));
      await until('it is reported', async () => reasons(await here.eventsOf(name)).includes(reason));
      await here.kubectl('delete', 'pod', name, limit);
    }
  });

  test('a runtime class that is not there keeps a pod waiting until it is', async () => {
    const here = await view.namespace('classes');
    const runtimeClass = {
      apiVersion: 'node.k8s.io/v1',
      kind: 'RuntimeClass',
      metadata: { name: 'odd' },
      handler: 'runc',
    };
    // Pods that name an unknown class are refused by the API server: this one goes before the pod is bound.
    await here.apply(runtimeClass);
    const gates = { schedulingGates: [{ name: 'test/wait' }], runtimeClassName: 'odd' };
    await here.apply(onePod(here, 'classy', idle, gates));
    await plane.ask('delete', 'runtimeclass', 'odd');
    await here.kubectl(
      'patch',
      'pod',
      'classy',
      '--type=json',
      '--patch=[{"op":"remove","path":"/spec/schedulingGates"}]',
    );
    const told = await until('it is told so', async () =>
      (await here.eventsOf('classy')).find(({ reason }) => reason === 'FailedCreatePodSandBox'),
    );
    assert.match(told.message ?? '', /^Failed to create pod sandbox: .*"odd" not found/);
    await here.apply(runtimeClass);
    await here.podReady('classy');
    await here.kubectl('delete', 'pod', 'classy', limit);
    await plane.ask('delete', 'runtimeclass', 'odd');
  });

  test('deleted pods end in the way they were told to', async () => {
    const here = await view.namespace('deletion');
    const stubborn = 'trap "" TERM; while true; do sleep 1; done';
    const finalizers = ['example.com/hold'];
    await here.apply(
      onePod(here, 'slow', 'trap "sleep 3; exit 4" TERM; while true; do sleep 1000 & wait; done', {
        terminationGracePeriodSeconds: 60,
      }),
      onePod(here, 'held', idle, {}, { finalizers }),
      onePod(here, 'forced', stubborn, { terminationGracePeriodSeconds: 600 }),
      onePod(here, 'hurried', stubborn, { terminationGracePeriodSeconds: 600 }),
      onePod(here, 'done', 'exit 0', { restartPolicy: 'Never' }),
    );
    const [slow, , forced, hurried] = await Promise.all(
      ['slow', 'held', 'forced', 'hurried'].map((name) => here.podReady(name)),
    );
    await here.podWhen('done', 'has ended', ({ status }) => status?.phase === 'Succeeded');
    await here.kubectl('delete', 'pod', 'slow', 'held', '--wait=false');
    assert.match(await here.kubectl('get', 'pod', 'slow', '--no-headers'), /^slow +1\/1 +Terminating /);
    const { metadata, status } = await here.podWhen('held', 'has ended', (pod) => terminated(pod) !== undefined);
    assert.deepEqual([status?.phase, metadata?.finalizers], ['Succeeded', finalizers]);
    assert.equal(status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 0);
    assert.notEqual(metadata?.deletionTimestamp, undefined);
    await here.podGone('slow');
    await here.kubectl('patch', 'pod', 'held', '--type=merge', '--patch={"metadata":{"finalizers":null}}');
    await here.podGone('held');

    await here.kubectl('delete', 'pod', 'forced', '--force', '--grace-period=0');
    assert.equal(await here.pod('forced'), undefined);
    await here.kubectl('delete', 'pod', 'hurried', '--grace-period=1', limit);
    await here.kubectl('delete', 'pod', 'done', limit);
    for (const pod of [slow, forced, hurried]) {
      if (pod !== undefined)
        await until('nothing is left on disk', () => !existsSync(folderOf(pod)), { timeoutMs: 60_000 });
    }
  });
});

test('a changed ConfigMap or Secret is seen in the container within a second', async () => {
  const here = await view.namespace('changing');
  const kinds = ['configmaps', 'secrets', 'projected'] as const;
  const sources = [{ configMap: { name: 'object' } }, { secret: { secretName: 'object' } }];
  const all = { projected: { sources: [{ configMap: { name: 'object', items: [{ key: 'key', path: 'key' }] } }] } };
  const volumes = [...sources, all].map((source, index) => ({ name: kinds[index], ...source }));
  const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
  const container = { ...shell('main', node.image, idle), volumeMounts };
  await here.apply(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'object' }, data: { key: 'first' } },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'object' }, stringData: { key: 'first' } },
    onePod(here, 'reader', '', { containers: [container], volumes }),
  );
  const root = containerRoot(await here.podReady('reader'), 'main');
  const delays: Record<string, number[]> = {};
  // From the API server's answer until a program in the container could read it; the first comes right after the start.
  for (const value of ['second', 'third', 'fourth', 'fifth', 'sixth']) {
    for (const [kind, object, encoding] of [
      ['configmaps', 'configmaps', 'utf8'],
      ['secrets', 'secrets', 'base64'],
      ['projected', 'configmaps', 'utf8'],
    ] as const) {
      const now = `${value} for ${kind}`;
      await view.patch(`/api/v1/namespaces/${here.name}/${object}/object`, {
        data: { key: Buffer.from(now).toString(encoding) },
      });
      const told = clock.monotonic();
      await until(`the container reads ${now}`, () => readFileSync(join(root, kind, 'key'), 'utf8') === now);
      (delays[kind] ??= []).push(Math.round(clock.monotonic() - told));
    }
  }
  const seen = `a changed object is seen in the container after so many ms: ${JSON.stringify(delays)}`;
  process.stdout.write(`${seen}\n`);
  // The better half: somebody else may have had the processors.
  for (const each of Object.values(delays)) {
    assert.ok(each.filter((ms) => ms < 1_000).length > each.length / 2, seen);
  }
  await here.kubectl('delete', 'pod', 'reader', limit);
});

describe('what the API server was asked', () => {
  test('is little, and nothing was refused', async () => {
    const here = await view.namespace('counted');
    await here.apply(onePod(here, 'one', idle));
    await here.podReady('one');
    await here.kubectl('delete', 'pod', 'one', limit);
    const own = plane.audit().filter(({ requestURI }) => requestURI.includes('/namespaces/counted/'));
    const counts = new Map<string, number>();
    for (const { verb, requestURI } of own) {
      const what = `${verb} ${requestURI.replace(/^.*[/]counted[/]|[?].*$/g, '')}`;
      counts.set(what, (counts.get(what) ?? 0) + 1);
    }
    process.stdout.write(`requests in the life of a pod: ${JSON.stringify(Object.fromEntries(counts))}\n`);
    assert.deepEqual(plane.auditForbidden(`system:node:${node.name}`), []);
  });
});

const restarts = (status: Pod['status']): number => status?.containerStatuses?.[0]?.restartCount ?? 0;
const reasons = (events: readonly Event[]): readonly string[] => events.map(({ reason }) => reason ?? '');
const terminated = ({ status }: Pod): unknown => status?.containerStatuses?.[0]?.state?.terminated;

function objectsOf(here: Namespace): readonly object[] {
  const token = '/var/run/secrets/kubernetes.io/serviceaccount/token';
  const call = `wget -q -O - --no-check-certificate --header "Authorization: Bearer \`cat ${token}\`"`;
  const script = [
    'echo "$ALPHA $PASS"',
    'echo "$WEB_SERVICE_HOST $WEB_SERVICE_PORT $KUBERNETES_PORT"',
    'echo "`cat /settings/alpha` `cat /keys/pass`"',
    `${call} https://$(KUBERNETES_SERVICE_HOST)/api/v1/namespaces/${here.name}/pods/mixed | tr -d '\\n'; echo`,
    idle,
  ];
  const env = [
    { name: 'ALPHA', valueFrom: { configMapKeyRef: { name: 'settings', key: 'alpha' } } },
    { name: 'PASS', valueFrom: { secretKeyRef: { name: 'keys', key: 'pass' } } },
  ];
  const volumes = [
    { name: 'settings', configMap: { name: 'settings' } },
    { name: 'keys', secret: { secretName: 'keys' } },
    { name: 'facts', downwardAPI: { items: ['labels', 'annotations'].map((name) => fieldOf(name)) } },
  ];
  const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
  const container = shell('main', node.image, script.join('; '), { env, volumeMounts });
  return [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { alpha: 'one' } },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, stringData: { pass: 's3cret' } },
    { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } },
    onePod(here, 'mixed', '', { containers: [container], volumes }),
  ];
}

const fieldOf = (name: string): object => ({ path: name, fieldRef: { fieldPath: `metadata.${name}` } });

/** A file of the volume with the credentials of a pod's service account. */
function accessFile(pod: Pod, name: string): string {
  const volume = pod.spec?.volumes?.find((entry) => entry.name.startsWith('kube-api-access-'))?.name ?? '';
  return join(folderOf(pod), 'volumes', 'kubernetes.io~projected', volume, name);
}

function tokenClaims(pod: Pod): Readonly<Record<string, unknown>> {
  const [, claims = ''] = readFileSync(accessFile(pod, 'token'), 'utf8').split('.');
  return JSON.parse(Buffer.from(claims, 'base64url').toString()) as Readonly<Record<string, unknown>>;
}

/** The manifest of a recorded pod, with an image that is there. */
function goldenManifest(name: string, namespace: string): object {
  const { metadata, ...manifest } = loadGolden(name).manifest;
  const text = JSON.stringify({ ...manifest, metadata: { ...metadata, namespace } });
  const pod = JSON.parse(text.replaceAll('busybox:1.36', node.image)) as Pod;
  return { ...pod, spec: { terminationGracePeriodSeconds: 1, ...pod.spec } };
}

/** A recorded pod has the events that it had on a Go kubelet: those of its life, and after its deletion those of its end. */
async function sameEvents(here: Namespace, name: string): Promise<void> {
  const record = loadGolden(name);
  const life = record.events.filter(({ message }) => message !== 'Stopping container c');
  const pod = await here.podWhen(name, 'is there', () => true);
  const differences = async (events: GoldenRecord['events']): Promise<readonly string[]> => {
    const found = compareEvents({ ...record, events }, await recordedForm(here, name, uidOf(pod)));
    // On a slow machine a probe may also run out of time.
    return found.filter((difference) => !difference.startsWith('event extra: Warning Unhealthy'));
  };
  const same = (what: string, events: GoldenRecord['events']): Promise<boolean> =>
    until(`the events of ${what} of ${name} are as recorded`, async () => (await differences(events)).length === 0, {
      timeoutMs: 90_000,
      state: () => differences(events),
    });
  await same('the life', life);
  await here.kubectl('delete', 'pod', name, limit);
  // One that is killed again and again may not be running when it is deleted.
  if (name !== 'liveness-exec') await same('the life and the end', record.events);
}

/** Events of the agent about a pod in the words of the records. */
async function recordedForm(here: Namespace, name: string, uid: string): Promise<readonly PodEvent[]> {
  const own = (await here.eventsOf(name)).filter(({ source }) => source?.component === 'kubelet');
  const events = own.filter((event) => !cameTooSoon(event));
  const plain = events.map(({ type, reason, message, source, involvedObject: { fieldPath } }) => {
    assert.equal(source?.host, node.name);
    return { type, reason, message, ...(fieldPath !== undefined && { fieldPath }) };
  });
  const text = JSON.stringify(plain)
    .replaceAll(node.image, 'busybox:1.36')
    .replaceAll(`_${here.name}(${uid})`, '_{{namespace}}({{podUid}})')
    .replaceAll(/\b\d+\.\d+\.\d+\.\d+(?=:8080)/g, '{{podIP}}');
  return JSON.parse(text) as readonly PodEvent[];
}
