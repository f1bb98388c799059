import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Node, Pod } from '../../../src/gen/kubernetes/types.ts';
import { readyCondition } from '../../support/real-node.ts';
import { idle, saidBy, shell } from '../../support/real-pods.ts';
import { until } from '../../support/real-wait.ts';
import { ClusterView } from './cluster-view.ts';
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
const isReady = (pod: Pod): boolean => readyCondition(pod) === 'True';
const namesOf = (pods: readonly Pod[]): readonly string[] => pods.map(({ metadata }) => metadata?.name ?? '');
const uidOf = (pod: Pod | undefined): string => pod?.metadata?.uid ?? '';

/** The template of pods with one container. */
function template(app: string, script: string, spec: Fields = {}, version = '1'): Fields {
  const env = [{ name: 'VERSION', value: version }];
  return {
    metadata: { labels: { app } },
    spec: { terminationGracePeriodSeconds: 5, containers: [shell('main', node.image, script, { env })], ...spec },
  };
}

function workload(kind: string, app: string, spec: Fields): object {
  return {
    apiVersion: kind === 'Job' || kind === 'CronJob' ? 'batch/v1' : 'apps/v1',
    kind,
    metadata: { name: app },
    spec: kind === 'Job' || kind === 'CronJob' ? spec : { selector: { matchLabels: { app } }, ...spec },
  };
}

const versionOf = (pod: Pod): string | undefined => pod.spec?.containers[0]?.env?.[0]?.value;

/** A table of kubectl as lists of words. */
const rowsOf = (table: string): readonly (readonly string[])[] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.split(/ {2,}/));

describe('controllers of a cluster', { concurrency: true }, () => {
  test('claims to folders of the node: mounted, written, kept when the pod goes, and explained when not bound', async () => {
    const here = await view.namespace('claims');
    const data = mkdtempSync(join(node.names.kubeletRoot, 'data-'));
    const volume = (name: string, source: Fields): Fields => ({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: `${here.name}-${name}` },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: '',
        claimRef: { name, namespace: here.name },
        ...source,
      },
    });
    const claim = (name: string, volumeName?: string): Fields => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: '',
        resources: { requests: { storage: '1Gi' } },
        ...(volumeName !== undefined && { volumeName }),
      },
    });
    const path = { hostPath: { path: join(data, 'path'), type: 'DirectoryOrCreate' } };
    const term = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node.name] }] };
    const local = {
      local: { path: join(data, 'local') },
      nodeAffinity: { required: { nodeSelectorTerms: [term] } },
    };
    mkdirSync(join(data, 'local'));
    await here.apply(volume('path', path), claim('path', `${here.name}-path`));
    await here.apply(volume('local', local), claim('local', `${here.name}-local`), claim('none', 'nowhere'));
    const names = ['path', 'local'];
    const mounted = (own: readonly string[], script: string): Fields => ({
      terminationGracePeriodSeconds: 1,
      containers: [
        shell('main', node.image, script, { volumeMounts: own.map((name) => ({ name, mountPath: `/${name}` })) }),
      ],
      volumes: own.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
    });
    const pod = (name: string, spec: Fields): Fields => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
    await here.apply(pod('writer', mounted(names, `echo a > /path/a; echo b > /local/b; ${idle}`)));
    await here.podReady('writer');
    await here.apply(pod('waiter', { nodeName: node.name, ...mounted(['none'], idle) }));
    const why = await until('the waiting pod is explained', async () => {
      const events = await here.kubectl('get', 'events', '--field-selector=reason=FailedMount', '--output=json');
      const { items } = JSON.parse(events) as { readonly items: readonly { readonly message?: string }[] };
      // Whoever asks before the API server knows the pod to be this node's is refused; that is not what is to be told.
      return items.map(({ message = '' }) => message).find((message) => message.includes('PVC is not bound'));
    });
    assert.match(why, /failed to process volumes=\[none\]/);
    await here.kubectl('delete', 'pod/writer', 'pod/waiter', '--wait=true');
    assert.deepEqual(
      [readFileSync(join(data, 'path/a'), 'utf8'), readFileSync(join(data, 'local/b'), 'utf8')],
      ['a\n', 'b\n'],
    );
    await here.kubectl('delete', 'pv', `${here.name}-path`, `${here.name}-local`, '--wait=false');
  });

  test('a Deployment of ten pods runs, scales, rolls, rolls back and goes', async () => {
    const here = await view.namespace('deployment');
    const web = (version: string): object =>
      workload('Deployment', 'web', { replicas: 10, template: template('web', idle, {}, version) });
    assert.equal(await here.apply(web('1')), 'deployment.apps/web created\n');
    await here.kubectl('rollout', 'status', 'deployment/web', limit);
    const ten = await here.pods('app=web');
    assert.equal(ten.filter(isReady).length, 10);
    assert.deepEqual([...new Set(ten.map(({ spec }) => spec?.nodeName))], [node.name]);
    assert.equal(new Set(ten.map(({ status }) => status?.podIP)).size, 10);

    const [heading, ...rows] = rowsOf(await here.kubectl('get', 'pods', '--output=wide'));
    assert.deepEqual(heading?.slice(0, 5), ['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE']);
    const shown = rows.map(([name, ready, status, restarts, , address]) => [name, ready, status, restarts, address]);
    assert.deepEqual(
      shown,
      ten.map(({ metadata, status }) => [metadata?.name, '1/1', 'Running', '0', status?.podIP]),
    );

    await here.kubectl('scale', 'deployment/web', '--replicas=3');
    const three = await here.podsWhen('app=web', 'are three', (pods) => pods.length === 3);
    const known = new Set(ten.map(uidOf));
    assert.ok(three.every((pod) => known.has(uidOf(pod)) && isReady(pod)));

    assert.equal(await here.apply(web('2')), 'deployment.apps/web configured\n');
    await here.kubectl('scale', 'deployment/web', '--replicas=3');
    await here.kubectl('rollout', 'status', 'deployment/web', limit);
    await here.podsWhen(
      'app=web',
      'are three of version 2',
      (pods) => pods.length === 3 && pods.every((pod) => isReady(pod) && versionOf(pod) === '2'),
    );
    await here.kubectl('rollout', 'undo', 'deployment/web');
    await here.kubectl('rollout', 'status', 'deployment/web', limit);
    await here.podsWhen(
      'app=web',
      'are three of version 1',
      (pods) => pods.length === 3 && pods.every((pod) => isReady(pod) && versionOf(pod) === '1'),
    );
    assert.match(await here.kubectl('rollout', 'history', 'deployment/web'), /^2 .*\n3 /m);

    await here.kubectl('delete', 'deployment', 'web', '--cascade=foreground', limit);
    assert.deepEqual(await here.pods(), []);
  });

  test('a Job completes, another one fails, and both go', async () => {
    const here = await view.namespace('job');
    const count = workload('Job', 'count', {
      completions: 3,
      parallelism: 2,
      template: template('count', 'echo done', { restartPolicy: 'Never' }),
    });
    const fail = workload('Job', 'fail', {
      backoffLimit: 1,
      template: template('fail', 'echo bad; exit 7', { restartPolicy: 'OnFailure' }),
    });
    await here.apply(count, fail);
    await here.kubectl('wait', '--for=condition=Complete', 'job/count', limit);
    const done = await here.pods('app=count');
    assert.deepEqual(
      done.map(({ status }) => [status?.phase, status?.containerStatuses?.[0]?.state?.terminated?.reason]),
      [1, 2, 3].map(() => ['Succeeded', 'Completed']),
    );
    for (const pod of done) assert.deepEqual(saidBy(node, pod, 'main'), ['done']);
    const rows = rowsOf(await here.kubectl('get', 'pods', '--selector=app=count', '--no-headers'));
    assert.deepEqual(
      rows.map(([, ready, status]) => [ready, status]),
      [1, 2, 3].map(() => ['0/1', 'Completed']),
    );

    await here.kubectl('wait', '--for=condition=Failed', 'job/fail', limit);
    await here.kubectl('delete', 'job', 'count', 'fail', limit);
    await here.podsWhen('app in (count, fail)', 'are gone', (pods) => pods.length === 0);
  });

  test('a CronJob has its work done and takes it along when it goes', async () => {
    const here = await view.namespace('cronjob');
    const job = { spec: { template: template('tick', 'echo tock', { restartPolicy: 'OnFailure' }) } };
    await here.apply(workload('CronJob', 'tick', { schedule: '0 0 1 1 *', jobTemplate: job }));
    await here.kubectl('create', 'job', 'now', '--from=cronjob/tick');
    await here.kubectl('wait', '--for=condition=Complete', 'job/now', limit);
    const [pod] = await here.pods('app=tick');
    assert.equal(pod?.status?.phase, 'Succeeded');
    await here.kubectl('delete', 'cronjob', 'tick', '--cascade=foreground', limit);
    await here.kubectl('wait', '--for=delete', 'job/now', limit);
    await here.podsWhen('app=tick', 'are gone', (pods) => pods.length === 0);
  });

  test('a DaemonSet has its pod here, replaces it and goes', async () => {
    const here = await view.namespace('daemonset');
    const agent = (version: string): object =>
      workload('DaemonSet', 'agent', { template: template('agent', idle, { hostNetwork: true }, version) });
    await here.apply(agent('1'));
    await here.kubectl('rollout', 'status', 'daemonset/agent', limit);
    const [first, ...more] = await here.pods('app=agent');
    assert.deepEqual(more, []);
    assert.deepEqual([first?.spec?.nodeName, first?.status?.podIP], [node.name, node.address]);
    await here.apply(agent('2'));
    await here.kubectl('rollout', 'status', 'daemonset/agent', limit);
    const [second] = await here.podsWhen('app=agent', 'are one', (pods) => pods.length === 1);
    assert.deepEqual([second && versionOf(second), second && isReady(second)], ['2', true]);
    await here.kubectl('delete', 'daemonset', 'agent', '--cascade=foreground', limit);
    assert.deepEqual(await here.pods(), []);
  });

  test('a StatefulSet comes, rolls and goes in order', async () => {
    const here = await view.namespace('statefulset');
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'db' },
      spec: { clusterIP: 'None', selector: { app: 'db' }, ports: [{ port: 80 }] },
    };
    const db = (version: string, replicas: number): object => {
      const pods = template('db', `hostname -f; ${idle}`, {}, version);
      return workload('StatefulSet', 'db', { serviceName: 'db', replicas, template: pods });
    };
    await here.apply(service, db('1', 3));
    await here.kubectl('rollout', 'status', 'statefulset/db', limit);
    const three = await here.pods('app=db');
    assert.deepEqual(namesOf(three), ['db-0', 'db-1', 'db-2']);
    const created = three.map(({ metadata }) => Date.parse(metadata?.creationTimestamp ?? ''));
    const ready = three.map((pod) => Date.parse(readySince(pod)));
    for (const index of [1, 2])
      assert.ok(created[index]! >= ready[index - 1]!, `${ready.join()} then ${created.join()}`);
    for (const pod of three) {
      const name = `${pod.metadata?.name}.db.statefulset.svc.cluster.local`;
      assert.deepEqual(saidBy(node, pod, 'main'), [name]);
    }

    // It comes back under its name, with nothing of its old life.
    await here.kubectl('delete', 'pod', 'db-1', limit);
    const again = await here.podReady('db-1');
    assert.notEqual(uidOf(again), uidOf(three[1]));

    await here.apply(db('2', 3));
    await here.kubectl('rollout', 'status', 'statefulset/db', limit);
    const rolled = await here.pods('app=db');
    assert.deepEqual(rolled.map(versionOf), ['2', '2', '2']);
    const starts = rolled.map(({ status }) => Date.parse(status?.startTime ?? ''));
    assert.deepEqual(
      starts,
      starts.toSorted((one, other) => other - one),
    );

    await here.kubectl('scale', 'statefulset/db', '--replicas=1');
    const [last] = await here.podsWhen('app=db', 'are one', (pods) => pods.length === 1);
    assert.equal(last?.metadata?.name, 'db-0');
    await here.kubectl('delete', 'statefulset', 'db', '--cascade=foreground', limit);
    assert.deepEqual(await here.pods(), []);
  });
});

describe('a node that is taken out of service', () => {
  test('gets no pods while it is cordoned, loses those it has when it is drained, and works on afterwards', async () => {
    const here = await view.namespace('drain');
    const away = template('away', idle, { volumes: [{ name: 'scratch', emptyDir: {} }] });
    await here.apply(
      workload('Deployment', 'away', { replicas: 2, template: away }),
      workload('DaemonSet', 'stays', { template: template('stays', idle) }),
      { apiVersion: 'v1', kind: 'Pod', ...template('lone', idle), metadata: { name: 'lone', labels: { app: 'lone' } } },
    );
    await here.kubectl('wait', '--for=condition=Ready', 'pod/lone', limit);
    await here.kubectl('rollout', 'status', 'deployment/away', limit);
    await here.kubectl('rollout', 'status', 'daemonset/stays', limit);
    const [stays] = await here.pods('app=stays');

    await plane.ask('cordon', node.name);
    const [, row] = rowsOf(await plane.ask('get', 'nodes'));
    assert.equal(row?.[1], 'Ready,SchedulingDisabled');
    await here.kubectl('scale', 'deployment/away', '--replicas=3');
    await here.podsWhen('app=away', 'are three, one of them unschedulable', (pods) => {
      const waiting = pods.filter((pod) => pod.spec?.nodeName === undefined && scheduled(pod) === 'Unschedulable');
      return pods.length === 3 && waiting.length === 1;
    });

    const refused = await plane.kubectl(['drain', node.name, '--timeout=60s']);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /cannot delete/);
    const words = ['--ignore-daemonsets', '--delete-emptydir-data', '--force', limit];
    assert.match(await plane.ask('drain', node.name, ...words), new RegExp(`node/${node.name} drained`));
    const left = (await view.get<{ items: Pod[] }>(`/api/v1/pods?fieldSelector=spec.nodeName=${node.name}`))?.items;
    assert.deepEqual(left?.map(uidOf), [uidOf(stays)]);
    assert.equal(left?.[0] && isReady(left[0]), true);

    await plane.ask('uncordon', node.name);
    await here.kubectl('rollout', 'status', 'deployment/away', limit);
    await here.kubectl('delete', 'deployment/away', 'daemonset/stays', '--cascade=foreground', limit);
    assert.deepEqual(await here.pods(), []);
  });

  test('nothing is left of all these pods, and nothing that the agent asked for was refused', async () => {
    const { status } = (await view.get<Node>(`/api/v1/nodes/${node.name}`)) ?? {};
    assert.deepEqual(
      status?.conditions?.filter((condition) => condition.status === 'True').map(({ type }) => type),
      ['Ready'],
    );
    await until('their folders are gone', () => podFolders().length === 0, { timeoutMs: 60_000, state: podFolders });
    assert.deepEqual(plane.auditForbidden(`system:node:${node.name}`), []);
  });
});

const podFolders = (): readonly string[] => readdirSync(join(node.names.kubeletRoot, 'pods'));

function readySince(pod: Pod): string {
  return pod.status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? '';
}

function scheduled(pod: Pod): string | undefined {
  return pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.reason;
}
