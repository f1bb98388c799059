import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { lookup } from './keyring.ts';
import { nodeConfigFiles, NodeCredentials } from './node-config.ts';

const config = (username: string): string =>
  JSON.stringify({ auths: { 'a.example': { username, password: 'hunter2' } } });

function setUp() {
  const texts = new Map<string, string | Error>();
  const log = new MemoryLog();
  const files = {
    readText: async (path: string): Promise<string> => {
      const text = texts.get(path) ?? new TubeletError('notFound', `no such file: ${path}`);
      if (typeof text === 'string') return text;
      throw text;
    },
  };
  const candidates = nodeConfigFiles({ rootDir: '/var/lib/kubelet', workingDir: '/cwd', homeDir: '/root' });
  const node = new NodeCredentials({ files, log, candidates });
  const users = async (): Promise<string[]> =>
    lookup(await node.keyring(), 'a.example/app').map(({ auth }) => auth.reveal().username);
  return { texts, log, node, users };
}

test('where the files may stand, and in which order', () => {
  const paths = (homeDir: string): string[] =>
    nodeConfigFiles({ rootDir: '/var/lib/kubelet', workingDir: '/cwd', homeDir }).map(({ path }) => path);
  assert.deepEqual(paths('/root'), [
    '/var/lib/kubelet/config.json',
    '/cwd/config.json',
    '/root/.docker/config.json',
    '/.docker/config.json',
    '/var/lib/kubelet/.dockercfg',
    '/cwd/.dockercfg',
    '/root/.dockercfg',
    '/.dockercfg',
    '/var/lib/kubelet/.dockerconfigjson',
    '/cwd/.dockerconfigjson',
    '/root/.dockerconfigjson',
    '/.dockerconfigjson',
  ]);
  assert.equal(
    paths('').some((path) => path.startsWith('.') || path.includes('/root')),
    false,
  );
});

test('the first file that can be read counts', async () => {
  const { texts, users } = setUp();
  assert.deepEqual(await users(), []);
  texts.set('/root/.dockercfg', JSON.stringify({ 'a.example': { username: 'legacy' } }));
  assert.deepEqual(await users(), ['legacy']);
  texts.set('/root/.docker/config.json', config('home'));
  assert.deepEqual(await users(), ['home']);
  texts.set('/var/lib/kubelet/config.json', config('own'));
  assert.deepEqual(await users(), ['own']);
});

test('a change counts at once, and an unchanged file is not read anew', async () => {
  const { texts, node, users } = setUp();
  texts.set('/var/lib/kubelet/config.json', config('old'));
  assert.deepEqual(await users(), ['old']);
  assert.equal(await node.keyring(), await node.keyring());
  texts.set('/var/lib/kubelet/config.json', config('new'));
  assert.deepEqual(await users(), ['new']);
  texts.clear();
  assert.deepEqual(await users(), []);
});

test('a file that cannot be used is skipped with one log line, until that changes', async () => {
  const { texts, log, users } = setUp();
  texts.set('/var/lib/kubelet/config.json', '{"auths": hunter2');
  texts.set('/cwd/config.json', new TubeletError('denied', 'EACCES: permission denied'));
  texts.set('/.docker/config.json', config('last'));
  assert.deepEqual(await users(), ['last']);
  assert.deepEqual(await users(), ['last']);
  assert.equal(log.messages('warn').length, 2);
  texts.set(
    '/var/lib/kubelet/config.json',
    JSON.stringify({ auths: { 'a.example': { username: 'u' }, 'b.example': 1 } }),
  );
  assert.deepEqual(await users(), ['u']);
  assert.deepEqual(await users(), ['u']);
  assert.equal(log.messages('warn').length, 3);
  assert.doesNotMatch(JSON.stringify(log.entries), /hunter2/);
});
