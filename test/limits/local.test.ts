import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { statSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { testImage } from '../../src/testing/pods.ts';
import { clock, until } from '../support/real-wait.ts';
import { LimitNode } from './support/limit-node.ts';
import { catches, listeningPorts } from './support/listening-ports.ts';

describe('SIGUSR1, at which Node opens its inspector to every local process', () => {
  test('opens nothing while the agent works', async () => {
    const node = await LimitNode.start('local-signal');
    try {
      const { pid } = node.agent;
      const before = listeningPorts(pid);
      assert.deepEqual(
        before,
        [node.port, node.healthzPort, node.readOnlyPort].toSorted((one, other) => one - other),
      );
      await node.during(async () => {
        for (let count = 0; count < 5; count++) {
          node.agent.kill('SIGUSR1');
          await clock.sleep(100);
        }
      });
      assert.deepEqual(listeningPorts(pid), before);
      assert.doesNotMatch(node.agent.text, /Debugger|inspector/);
    } finally {
      await node.destroy();
    }
  });

  test('opens nothing that stays while it starts', async () => {
    const node = await LimitNode.create('local-early-signal');
    try {
      const started = node.startAgent();
      // Its handler is there some milliseconds before any code of ours.
      while (node.agent.running && !catches(node.agent.pid, constants.signals.SIGUSR1)) await clock.sleep(1);
      node.agent.kill('SIGUSR1');
      await started;
      const { pid } = node.agent;
      assert.ok(!listeningPorts(pid).some((port) => ![node.port, node.healthzPort, node.readOnlyPort].includes(port)));
    } finally {
      await node.destroy();
    }
  });
});

describe('the values of a pod that stands alone', () => {
  const value = 'open-sesame-4711';
  const manifest = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'alone' },
    spec: {
      containers: [
        {
          name: 'main',
          image: testImage,
          imagePullPolicy: 'IfNotPresent',
          env: [{ name: 'PASSWORD', value }],
          readinessProbe: {
            httpGet: { host: '127.0.0.1', port: 1, httpHeaders: [{ name: 'Authorization', value: `Bearer ${value}` }] },
          },
        },
      ],
    },
  });

  test('are shown by a socket of root, and to no other user of the machine', async () => {
    const node = await LimitNode.create('local-pods', { standalone: true });
    try {
      const socket = join(node.path, 'agent.sock');
      await node.startAgent([], { TUBELET_READ_ONLY_SOCKET: socket });
      node.putManifest('alone.json', manifest);
      const open = async (): Promise<string> => (await fetch(`http://127.0.0.1:${node.readOnlyPort}/pods`)).text();
      await until('the pod is shown', async () => (await open()).includes('"name":"PASSWORD"'), { state: open });
      assert.ok(!(await open()).includes(value), await open());
      assert.equal(statSync(socket).mode & 0o777, 0o600);
      assert.ok((await askSocket(socket, '/pods')).includes(value));
      assert.ok(!(await askSocket(socket, '/configz')).includes('kubeletconfig'));
    } finally {
      await node.destroy();
    }
  });
});

function askSocket(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ socketPath, path, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () => resolve(text));
    }).on('error', reject);
  });
}
