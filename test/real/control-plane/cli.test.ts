import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { Program, run } from '../../support/real-program.ts';
import { until } from '../../support/real-wait.ts';
import { makeClusterFolder } from './cluster-folder.ts';
import { processesOf } from './processes-of.ts';

const command = [process.execPath, 'tools/control-plane.mjs'];

/** Starts a cluster as a developer does, and answers where it is. */
async function start(): Promise<{ readonly program: Program; readonly kubeconfig: string; readonly kubectl: string }> {
  const program = new Program(command);
  const pattern = /KUBECONFIG=(.+)\n.*kubectl=(.+)\n[^]*Ctrl-C/;
  const look = (): RegExpExecArray | undefined => pattern.exec(program.text) ?? undefined;
  const said = await until('the cluster is there', () => look() ?? (program.running ? undefined : 'ended'), {
    timeoutMs: 180_000,
    state: () => program.text,
  });
  if (said === 'ended') throw new Error(`the command ended: ${program.text}`);
  const [, kubeconfig = '', kubectl = ''] = said;
  return { program, kubeconfig, kubectl };
}

test('npm run control-plane tells how to reach the cluster, and leaves nothing', async () => {
  const { program, kubeconfig, kubectl } = await start();
  try {
    const { code, text } = await run([kubectl, 'get', 'namespace', 'default', '--output=name'], {
      KUBECONFIG: kubeconfig,
    });
    assert.deepEqual([code, text], [0, 'namespace/default\n']);
    program.kill('SIGTERM');
    assert.equal((await program.ended).code, 0, program.text);
    assert.deepEqual(processesOf(dirname(kubeconfig)), []);
    assert.equal(existsSync(dirname(kubeconfig)), false);
  } finally {
    await program.end();
  }
});

test('what a killed run leaves is ended at once and removed by the next', async () => {
  const { program, kubeconfig } = await start();
  const folder = dirname(kubeconfig);
  try {
    assert.equal(processesOf(folder).length, 4);
  } finally {
    await program.end();
  }
  const living = (): readonly string[] => processesOf(folder);
  await until('its processes are gone', () => living().length === 0, { state: living });
  assert.equal(existsSync(folder), true);
  const next = await makeClusterFolder();
  assert.equal(existsSync(folder), false);
  await next.remove();
});

test('words that it does not know are refused', async () => {
  const { code, text } = await run([...command, '--joni']);
  assert.equal(code, 2);
  assert.match(text, /usage: npm run control-plane/);
});
