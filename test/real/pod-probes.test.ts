import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { Server, ServerCredentials, type sendUnaryData } from '@grpc/grpc-js';
import type { Pod } from '../../src/gen/kubernetes/types.ts';
import { readyCondition, RealNode } from '../support/real-node.ts';
import { containerOf, idle, podOf, podWhen, SharedFolder, shell } from '../support/real-pods.ts';

/** Probes of all four kinds on a real runtime. Files that a pod shares with the test make them change their minds. */
const every = { periodSeconds: 1, failureThreshold: 1, timeoutSeconds: 10 };

let node: RealNode;
let health: Health;
before(async () => {
  node = await RealNode.start('probes');
  health = await serveHealth();
  const run = (name: string, script: string, more: object = {}): object => shell(name, node.image, script, { ...more });
  /** A pod of one container that shares a folder with the test. */
  const put = (name: string, script: string, probes: object): void => {
    const { volumes, mounts } = new SharedFolder(node, name);
    const containers = [run('main', script, { ...mounts, ...probes })];
    node.put(name, podOf(name, { terminationGracePeriodSeconds: 2, volumes, containers }));
  };
  const hasStarted = { exec: { command: ['test', '-f', '/shared/started'] } };
  put('alive', `[ -f /shared/again ] || touch /tmp/dead; touch /shared/again; ${idle}`, {
    livenessProbe: { exec: { command: ['test', '!', '-f', '/tmp/dead'] }, ...every },
  });
  put('web', 'exec httpd -f -p 8080 -h /shared', {
    ports: [{ name: 'web', containerPort: 8080 }],
    readinessProbe: { httpGet: { path: '/ready', port: 'web' }, ...every },
  });
  put('slow', idle, {
    startupProbe: { ...hasStarted, periodSeconds: 1, failureThreshold: 300, timeoutSeconds: 10 },
    // It would end the container if it were asked before the startup probe has succeeded.
    livenessProbe: { ...hasStarted, ...every },
    readinessProbe: { ...hasStarted, ...every },
  });
  node.put('tcp', tcpPod(run));
  // In the machine's network it reaches the server of this test.
  const readinessProbe = { grpc: { port: health.port, service: 'pods' }, ...every };
  const containers = [run('main', idle, { readinessProbe })];
  node.put('grpc', podOf('grpc', { hostNetwork: true, terminationGracePeriodSeconds: 2, containers }));
  await node.workingAgent();
});
after(async () => {
  health?.server.forceShutdown();
  await node?.destroy();
});

function tcpPod(run: (name: string, script: string, more: object) => object): object {
  return podOf('tcp', {
    terminationGracePeriodSeconds: 2,
    containers: [
      run('open', 'exec httpd -f -p 8080', { readinessProbe: { tcpSocket: { port: 8080 }, ...every } }),
      run('closed', idle, { readinessProbe: { tcpSocket: { port: 8081 }, ...every } }),
    ],
  });
}

/** The pod once its condition Ready is this and its containers have been seen running. */
const readyIs = (name: string, wanted: 'True' | 'False'): Promise<Pod> =>
  podWhen(node, name, `has Ready=${wanted}`, (pod) => {
    const statuses = pod.status?.containerStatuses ?? [];
    return readyCondition(pod) === wanted && statuses.every(({ state }) => state?.running !== undefined);
  });
const restarts = (pod: Pod): number => containerOf(pod, 'main').restartCount;

describe('a probe', { concurrency: true }, () => {
  test('of liveness by a command has the container restarted', async () => {
    const pod = await podWhen(node, 'alive', 'is restarted', (pod) => restarts(pod) === 1);
    const { exitCode, reason } = containerOf(pod, 'main').lastState?.terminated ?? {};
    assert.deepEqual([exitCode, reason], [0, 'Completed']);
    assert.equal(restarts(await readyIs('alive', 'True')), 1);
  });

  test('of readiness by HTTP follows a file, and restarts nothing', async () => {
    const file = new SharedFolder(node, 'web').file('ready');
    const first = await readyIs('web', 'False');
    writeFileSync(file, 'yes');
    await readyIs('web', 'True');
    rmSync(file);
    const last = await readyIs('web', 'False');
    assert.equal(restarts(last), 0);
    assert.equal(containerOf(last, 'main').containerID, containerOf(first, 'main').containerID);
    const reason = last.status?.conditions?.find(({ type }) => type === 'Ready')?.reason;
    assert.equal(reason, 'ContainersNotReady');
  });

  test('of startup holds back the others', async () => {
    const before = await readyIs('slow', 'False');
    assert.equal(containerOf(before, 'main').started, false);
    // As long as other pods of this file need for several probes.
    await readyIs('tcp', 'False');
    await podWhen(node, 'alive', 'is restarted', (pod) => restarts(pod) === 1);
    writeFileSync(new SharedFolder(node, 'slow').file('started'), '');
    const after = await readyIs('slow', 'True');
    assert.deepEqual([containerOf(after, 'main').started, restarts(after)], [true, 0]);
  });

  test('of readiness by TCP tells an open port from a closed one', async () => {
    const pod = await podWhen(node, 'tcp', 'has a ready container', (pod) => containerOf(pod, 'open').ready);
    assert.equal(containerOf(pod, 'closed').ready, false);
    assert.equal(readyCondition(pod), 'False');
  });

  test('of readiness by gRPC follows the answer of the health service', async () => {
    await readyIs('grpc', 'False');
    health.serving = true;
    await readyIs('grpc', 'True');
    assert.deepEqual([...health.asked], ['pods']);
    health.serving = false;
    await readyIs('grpc', 'False');
  });
});

interface Health {
  readonly server: Server;
  readonly port: number;
  serving: boolean;
  /** Services that were asked for. */
  readonly asked: Set<string>;
}

/** The health service of gRPC. Its messages have one field each: the name asked for, and 1 for serving or 2 for not. */
async function serveHealth(): Promise<Health> {
  const server = new Server();
  const asked = new Set<string>();
  const check = {
    path: '/grpc.health.v1.Health/Check',
    requestStream: false,
    responseStream: false,
    requestSerialize: (bytes: Buffer) => bytes,
    requestDeserialize: (bytes: Buffer) => bytes,
    responseSerialize: (bytes: Buffer) => bytes,
    responseDeserialize: (bytes: Buffer) => bytes,
  };
  server.addService(
    { check },
    {
      check: (call: { readonly request: Buffer }, answer: sendUnaryData<Buffer>) => {
        asked.add(call.request.subarray(2).toString());
        answer(null, Buffer.from([0x08, health.serving ? 1 : 2]));
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('0.0.0.0:0', ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    );
  });
  return { server, port, serving: false, asked };
}
