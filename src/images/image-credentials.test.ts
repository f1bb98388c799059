import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { PodSandboxConfig } from '../gen/cri/api.ts';
import type { Secret } from '../gen/kubernetes/types.ts';
import { createFakeCri } from '../testing/fake-cri/index.ts';
import { anImageManager } from '../testing/image-manager.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryEvents } from '../testing/memory-events.ts';
import { aContainer, aPod } from '../testing/pods.ts';
import { RegistryCredentials } from './credentials/registry-credentials.ts';
import { NodeCredentials } from './credentials/node-config.ts';
import { silentLog } from '../base/log.ts';
import type { PresentImage } from '../model/present-image.ts';
import type { Refusable } from '../model/refusal.ts';

const password = 'hunter2';
const auth = { username: 'u', password };
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
const entries = (word = password) => ({ 'private.example': { username: 'u', password: word } });

const secrets: Readonly<Record<string, Secret>> = {
  good: { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': base64({ auths: entries() }) } },
  old: { type: 'kubernetes.io/dockercfg', data: { '.dockercfg': base64(entries()) } },
  wrong: { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': base64({ auths: entries('stale') }) } },
  opaque: { type: 'Opaque', data: { '.dockerconfigjson': base64({ auths: entries() }) } },
  broken: {
    type: 'kubernetes.io/dockerconfigjson',
    data: { '.dockerconfigjson': Buffer.from('{"auths": hunter2').toString('base64') },
  },
};

function setUp(nodeConfig = '') {
  const clock = new FakeClock();
  const cri = createFakeCri({ clock });
  cri.images.publish('private.example/app:1', {}, auth);
  const events = new MemoryEvents();
  const node = new NodeCredentials({
    files: { readText: async () => nodeConfig },
    log: silentLog,
    candidates: nodeConfig === '' ? [] : [{ path: '/config.json', format: 'json' }],
  });
  const lookup = { secret: (namespace: string, name: string) => (namespace === 'ns' ? secrets[name] : undefined) };
  const credentials = new RegistryCredentials({ secrets: lookup, node, providers: [] });
  const manager = anImageManager({ clock, service: cri, events, credentials });
  const ensure = (names: readonly string[], image = 'private.example/app:1', namespace = 'ns') =>
    manager.ensure(
      aPod({ namespace, spec: { imagePullSecrets: names.map((name) => ({ name })) } }),
      aContainer('main', { image }),
      'spec.containers{main}',
      new AbortController().signal,
    );
  const passwords = (): (string | undefined)[] =>
    cri.calls
      .filter(({ verb }) => verb === 'pullImage')
      .map(({ request }) => (request as { auth?: { password: string } }).auth?.password);
  return { cri, events, ensure, passwords, manager };
}

const pulled = (ensured: Refusable<PresentImage>): boolean => 'ok' in ensured;

describe('pull secrets', () => {
  test('of both kinds open a private image', async () => {
    for (const name of ['good', 'old']) {
      const { ensure, passwords } = setUp();
      assert.equal(pulled(await ensure([name])), true, name);
      assert.deepEqual(passwords(), [password]);
    }
  });

  test('are tried in turn, after each other', async () => {
    const { ensure, passwords, events } = setUp();
    assert.equal(pulled(await ensure(['wrong', 'good'])), true);
    assert.deepEqual(passwords(), ['stale', password]);
    assert.equal(events.take().filter((line) => line.includes('Failed')).length, 0);
  });

  test('are those of the pod’s own namespace', async () => {
    const { ensure, passwords } = setUp();
    assert.equal(pulled(await ensure(['good'], 'private.example/app:1', 'other')), false);
    assert.deepEqual(passwords(), [undefined]);
  });

  test('are shown only to the registry they are for', async () => {
    const { ensure, passwords } = setUp();
    await ensure(['good'], 'public.example/app:1');
    assert.deepEqual(passwords(), [undefined]);
  });

  test('without a docker configuration hold nothing', async () => {
    const { ensure, passwords } = setUp();
    assert.equal(pulled(await ensure(['opaque'])), false);
    assert.deepEqual(passwords(), [undefined]);
  });
});

describe('what goes wrong', () => {
  test('missing secrets are an event of the pod, and the pull is tried all the same', async () => {
    const { ensure, events } = setUp();
    assert.equal(pulled(await ensure(['gone', '', 'good', 'away'])), true);
    assert.deepEqual(events.entries[0], {
      type: 'Warning',
      reason: 'FailedToRetrieveImagePullSecret',
      message: 'Unable to retrieve some image pull secrets (gone, away); attempting to pull the image may not succeed.',
    });
  });

  test('thousands of missing secrets make an event of bounded length', async () => {
    const { ensure, events } = setUp();
    await ensure(Array.from({ length: 5_000 }, (_, index) => `secret-${index}`));
    const { message = '' } = events.entries[0] ?? {};
    assert.match(message, /^Unable to retrieve some image pull secrets \(secret-0, secret-1, /);
    assert.ok(message.length < 4_300, `${message.length} characters`);
    assert.ok(message.endsWith('; attempting to pull the image may not succeed.'));
  });

  test('they are reported also when the image is there', async () => {
    const { cri, ensure, events } = setUp();
    cri.images.add('private.example/app:1');
    await ensure(['gone']);
    assert.deepEqual(
      events.entries.map(({ reason }) => reason),
      ['FailedToRetrieveImagePullSecret', 'Pulled'],
    );
  });

  test('an unreadable secret is reported without its content, and others are used', async () => {
    const { ensure, events } = setUp();
    assert.equal(pulled(await ensure(['broken', 'good'])), true);
    const lines = events.take();
    const reported = lines.find((line) => line.includes('FailedToRetrieveImagePullSecret'));
    assert.match(reported ?? '', /Unable to use some image pull secrets \(broken: not valid JSON/);
    assert.doesNotMatch(lines.join('\n'), /hunter2/);
  });

  test('all errors of registries are reported, each once, and no password with it', async () => {
    const { cri, ensure, events } = setUp(JSON.stringify({ auths: entries('node') }));
    cri.faults.fail('pullImage', 'denied', { times: 1, message: 'first said no' });
    const ensured = await ensure(['wrong']);
    const said =
      'failed to pull and unpack image "private.example/app:1": ' +
      'pull access denied, repository does not exist or may require authorization';
    const refusal = 'refusal' in ensured ? ensured.refusal : assert.fail();
    assert.equal(refusal.message, `[first said no, ${said}]`);
    assert.doesNotMatch(inspect([events.entries, ensured], { depth: 9 }), /stale|"node"/);
  });
});

test('the node’s own credentials serve every pod, after its secrets', async () => {
  const { ensure, passwords } = setUp(JSON.stringify({ auths: entries() }));
  assert.equal(pulled(await ensure(['wrong'])), true);
  assert.deepEqual(passwords(), ['stale', password]);
  const other = setUp(JSON.stringify({ auths: entries() }));
  assert.equal(pulled(await other.ensure([])), true);
});

test('the runtime gets the sandbox that an image is for', async () => {
  const { cri, manager } = setUp();
  const sandboxConfig = PodSandboxConfig.fromPartial({ metadata: { name: 'web' } });
  const container = aContainer('main', { image: 'public.example/app:1' });
  const context = { sandboxConfig, runtimeHandler: 'kata' };
  await manager.ensure(aPod(), container, 'spec.containers{main}', new AbortController().signal, context);
  const request = cri.calls.find(({ verb }) => verb === 'pullImage')?.request as {
    readonly image: { readonly runtimeHandler: string };
    readonly sandboxConfig: PodSandboxConfig;
  };
  assert.equal(request.image.runtimeHandler, 'kata');
  assert.equal(request.sandboxConfig.metadata?.name, 'web');
});
