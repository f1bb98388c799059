import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import { Masked } from '../../base/masked.ts';
import type { PluginCall } from '../../model/program-calls.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { aPod } from '../../testing/pods.ts';
import type { ServiceAccounts } from '../ports.ts';
import { CredentialProvider } from './credential-provider.ts';
import type { ProviderConfig } from './provider-config.ts';
import type { TokenAttributes } from './token-attributes.ts';

const apiVersion = 'credentialprovider.kubelet.k8s.io/v1';
const tokenAttributes: TokenAttributes = {
  audience: 'registry',
  cacheType: 'ServiceAccount',
  required: true,
  requiredAnnotations: ['role'],
  optionalAnnotations: ['tenant'],
};

function setUp(more: Partial<ProviderConfig> = {}, accounts?: ServiceAccounts) {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const calls: PluginCall[] = [];
  const metrics: string[] = [];
  const plugin = { cacheKeyType: 'Image', cacheDuration: undefined as string | undefined, fails: '', takesMs: 0 };
  const config: ProviderConfig = {
    name: 'plugin',
    matchImages: ['*.example'],
    defaultCacheMs: 60_000,
    apiVersion,
    args: ['-v'],
    environment: new Masked({ A: 'b' }),
    ...more,
  };
  const provider = new CredentialProvider({
    clock,
    log,
    config,
    binDir: '/bin/providers',
    runner: {
      run: async (call) => {
        calls.push(call);
        if (plugin.takesMs > 0) await clock.sleep(plugin.takesMs);
        if (plugin.fails !== '') throw new TubeletError('internal', plugin.fails);
        const { cacheKeyType, cacheDuration } = plugin;
        const auth = { '*.example': { username: `u${calls.length}`, password: 'hunter2' } };
        return JSON.stringify({ kind: 'CredentialProviderResponse', apiVersion, cacheKeyType, cacheDuration, auth });
      },
    },
    metrics: {
      pulled: () => {},
      pluginRan: (name, ms) => void metrics.push(`${name} ran ${ms}`),
      pluginFailed: (name) => void metrics.push(`${name} failed`),
    },
    ...(accounts !== undefined && { accounts }),
  });
  const ask = (image = 'a.example/app', pod = aPod(), signal = new AbortController().signal) =>
    provider.credentialsFor(pod, image, signal);
  const user = async (...asked: Parameters<typeof ask>): Promise<string | undefined> =>
    (await ask(...asked))[0]?.entries[0]?.auth.reveal().username;
  return { clock, log, calls, metrics, plugin, ask, user };
}

test('runs only for matching images', async () => {
  const { calls, ask, user } = setUp();
  assert.deepEqual(await ask('example.com/app'), []);
  assert.equal(calls.length, 0);
  assert.equal(await user(), 'u1');
  const [{ file, args, environment, input } = assert.fail()] = calls;
  assert.deepEqual([file, args, environment.reveal()], ['/bin/providers/plugin', ['-v'], { A: 'b' }]);
  assert.deepEqual(JSON.parse(input.reveal()), {
    kind: 'CredentialProviderRequest',
    apiVersion,
    image: 'a.example/app',
  });
});

describe('answers are kept', () => {
  const images = ['a.example/app', 'a.example/app', 'a.example/other', 'b.example/app'];
  for (const [cacheKeyType, users] of [
    ['Image', ['u1', 'u1', 'u2', 'u3']],
    ['Registry', ['u1', 'u1', 'u1', 'u2']],
    ['Global', ['u1', 'u1', 'u1', 'u1']],
  ] as const) {
    test(`by ${cacheKeyType}`, async () => {
      const { plugin, user } = setUp();
      plugin.cacheKeyType = cacheKeyType;
      const answers: unknown[] = [];
      for (const image of images) answers.push(await user(image));
      assert.deepEqual(answers, users);
    });
  }

  for (const [cacheDuration, keptMs] of [
    [undefined, 60_000],
    ['10s', 10_000],
  ] as const) {
    test(`for ${keptMs} ms`, async () => {
      const { clock, plugin, user } = setUp();
      plugin.cacheDuration = cacheDuration;
      assert.equal(await user(), 'u1');
      await clock.advance(keptMs);
      assert.equal(await user(), 'u1');
      await clock.advance(1);
      assert.equal(await user(), 'u2');
    });
  }

  test('not at all when the plugin or the configuration says so', async () => {
    const { plugin, user } = setUp();
    plugin.cacheDuration = '0s';
    assert.deepEqual([await user(), await user()], ['u1', 'u2']);
    const other = setUp({ defaultCacheMs: 0 });
    assert.deepEqual([await other.user(), await other.user()], ['u1', 'u2']);
  });
});

describe('one run', () => {
  test('serves all concurrent callers of the same, and goes on when one of them aborts', async () => {
    const { clock, calls, plugin, ask, user } = setUp();
    plugin.takesMs = 1_000;
    const aborted = new AbortController();
    const left = assert.rejects(ask('a.example/app', aPod(), aborted.signal), /deleted/);
    const stays = [user(), user(), user('a.example/other')];
    await clock.settle();
    aborted.abort(new Error('deleted'));
    await left;
    await clock.advance(1_000);
    const users = await Promise.all(stays);
    assert.equal(users[0], users[1]);
    assert.equal(calls.length, 2);
  });

  test('is measured', async () => {
    const { clock, metrics, plugin, ask } = setUp();
    plugin.takesMs = 250;
    plugin.fails = 'no';
    const asked = ask();
    await clock.advance(250);
    await asked;
    assert.deepEqual(metrics, ['plugin failed', 'plugin ran 250']);
  });
});

describe('a plugin that fails', () => {
  test('gives no credentials, runs again, and is logged at each change', async () => {
    const { log, plugin, ask, user } = setUp();
    plugin.fails = 'exit code 1';
    assert.deepEqual([await ask(), await ask()], [[], []]);
    plugin.fails = 'exit code 2';
    assert.deepEqual(await ask(), []);
    plugin.fails = '';
    assert.equal(await user(), 'u4');
    await ask();
    assert.deepEqual(
      log.entries.map(({ severity, fields }) => [severity, fields['err']]),
      [
        ['warn', 'exit code 1'],
        ['warn', 'exit code 2'],
        ['info', undefined],
      ],
    );
  });

  test('also by an answer that is none', async () => {
    const { log, plugin, ask } = setUp();
    plugin.cacheKeyType = 'hunter2';
    assert.deepEqual(await ask(), []);
    assert.equal(log.messages('warn').length, 1);
    assert.doesNotMatch(JSON.stringify(log.entries), /hunter2/);
  });
});

describe('on behalf of an account', () => {
  const api = () => {
    const asked: string[] = [];
    const annotations: Record<string, string> = { role: 'r', other: 'o' };
    const accounts: ServiceAccounts = {
      get: async (_, name) => (name === 'gone' ? undefined : { uid: `uid-${name}`, annotations }),
      token: async ({ account, audience }) => {
        asked.push(`${account} for ${audience}`);
        return new Masked(`token-${asked.length}`);
      },
    };
    return { asked, annotations, accounts };
  };
  const podOf = (serviceAccountName: string) => aPod({ spec: { serviceAccountName } });

  test('the plugin gets a token and the chosen annotations, and the answer belongs to the account', async () => {
    const { accounts, asked } = api();
    const { calls, ask } = setUp({ tokenAttributes }, accounts);
    const [part] = await ask('a.example/app', podOf('bot'));
    assert.deepEqual(part?.source, { kind: 'serviceAccount', uid: 'uid-bot', namespace: 'default', name: 'bot' });
    assert.deepEqual(asked, ['bot for registry']);
    const request = JSON.parse(calls[0]?.input.reveal() ?? '') as Record<string, unknown>;
    assert.equal(request['serviceAccountToken'], 'token-1');
    assert.deepEqual(request['serviceAccountAnnotations'], { role: 'r' });
  });

  test('answers are not mixed between accounts, nor between tokens where they must not', async () => {
    const { accounts, annotations } = api();
    const { user } = setUp({ tokenAttributes }, accounts);
    assert.equal(await user('a.example/app', podOf('one')), 'u1');
    assert.equal(await user('a.example/app', podOf('one')), 'u1');
    assert.equal(await user('a.example/app', podOf('two')), 'u2');
    annotations['tenant'] = 't';
    assert.equal(await user('a.example/app', podOf('one')), 'u3');
    const strict = setUp({ tokenAttributes: { ...tokenAttributes, cacheType: 'Token' } }, accounts);
    assert.equal(await strict.user('a.example/app', podOf('one')), 'u1');
    assert.equal(await strict.user('a.example/app', podOf('one')), 'u2');
  });

  test('pods without one are served only by plugins that do not need one', async () => {
    const { accounts } = api();
    const needs = setUp({ tokenAttributes }, accounts);
    assert.deepEqual(await needs.ask(), []);
    const free = { ...tokenAttributes, required: false, requiredAnnotations: [] };
    const serves = setUp({ tokenAttributes: free }, accounts);
    assert.deepEqual((await serves.ask())[0]?.source, { kind: 'node' });
    assert.deepEqual(await setUp({ tokenAttributes }).ask('a.example/app', podOf('bot')), [], 'no API server');
  });

  test('an account that did not opt in is passed over silently, a missing one is reported', async () => {
    const { accounts, annotations } = api();
    const { log, calls, ask } = setUp({ tokenAttributes }, accounts);
    delete annotations['role'];
    assert.deepEqual(await ask('a.example/app', podOf('bot')), []);
    assert.equal(log.entries.length, 0);
    assert.deepEqual(await ask('a.example/app', podOf('gone')), []);
    assert.equal(log.entries[0]?.fields['err'], 'there is no service account default/gone');
    assert.equal(calls.length, 0);
  });
});
