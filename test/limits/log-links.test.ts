import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { until } from '../support/real-wait.ts';
import { LimitNode, type SecureAnswer } from './support/limit-node.ts';

const secret = 'the-secret-of-the-node';
const line = (text: string): string => `2026-01-01T00:00:00.000000000Z stdout F ${text}\n`;

let node: LimitNode;
let admin: { readonly cert: string; readonly key: string };
let outside = '';
before(async () => {
  node = await LimitNode.start('log-links', { configuration: { containerLogMonitorInterval: '3s' } });
  admin = await node.clientFiles();
  outside = join(node.path, 'outside');
  mkdirSync(outside);
});
after(() => node?.destroy());
beforeEach(() => writeFileSync(join(outside, '0.log'), line(secret)));

const read = (name: string): Promise<SecureAnswer> => node.ask(`/containerLogs/default/${name}/main`, admin);

/** A pod and the folder of its container's logs, which a volume of the folder of logs would give into its hands. */
async function podWithLogs(name: string): Promise<string> {
  node.schedule(name);
  const { metadata } = await node.ready(name);
  return join(node.podLogs, `default_${name}_${metadata?.uid}`, 'main');
}

// The log was read through any link, with the rights of the agent.
test('a link in place of a log does not lead to other files', async () => {
  const logs = await podWithLogs('file');
  writeFileSync(join(logs, '0.log'), line('its own'));
  assert.equal((await read('file')).body, 'its own\n');
  await node.during(async () => {
    rmSync(join(logs, '0.log'));
    symlinkSync(join(outside, '0.log'), join(logs, '0.log'));
    const { status, body } = await read('file');
    assert.equal(status, 400);
    assert.ok(!body.includes(secret), body);
  });
});

// Also the folder may be one, and the files in it were rotated and removed.
test("a link in place of a container's folder of logs gives nothing away, and nothing behind it is removed", async () => {
  const logs = await podWithLogs('folder');
  await node.during(async () => {
    renameSync(logs, `${logs}.aside`);
    symlinkSync(outside, logs);
    const { status, body } = await read('folder');
    assert.equal(status, 400);
    assert.ok(!body.includes(secret), body);
    await node.remove('folder');
    await until('the logs of the pod are gone', () => !existsSync(logs));
  });
  assert.equal(readFileSync(join(outside, '0.log'), 'utf8'), line(secret));
});

test('a link to where the runtime keeps the log of the container is followed', async () => {
  const logs = await podWithLogs('docker');
  const status = node.pod('docker')?.status?.containerStatuses?.[0];
  const id = status?.containerID?.replace(/^.*:\/\//, '') ?? '';
  const kept = join(node.path, 'docker/containers', id);
  mkdirSync(kept, { recursive: true });
  writeFileSync(join(kept, `${id}-json.log`), `{"log":"its own\\n","stream":"stdout","time":"2026-01-01T00:00:00Z"}\n`);
  rmSync(join(logs, '0.log'));
  symlinkSync(join(kept, `${id}-json.log`), join(logs, '0.log'));
  assert.match(id, /^[0-9a-f]{64}$/);
  assert.equal((await read('docker')).body, 'its own\n');
});
