import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HttpApiClient } from '../../apiserver/index.ts';
import { silentLog } from '../../base/log.ts';
import type { CertificateSigningRequest, ConfigMap, Node, Pod, TokenRequest } from '../../gen/kubernetes/types.ts';
import type { ApiObject } from '../../model/api-client.ts';
import { apiResources, type ApiResource } from '../../model/api-resources.ts';
import { FakeClock } from '../fake-clock.ts';
import { FakeApiServer, type FakeApiServerDeps } from './index.ts';

const { pods, nodes, configMaps, serviceAccounts, certificateSigningRequests } = apiResources;

function setUp(deps: Partial<FakeApiServerDeps> = {}, token?: string) {
  const clock = new FakeClock();
  const fake = new FakeApiServer({ clock, ...deps });
  const authorization = async (): Promise<string | undefined> => (token === undefined ? undefined : `Bearer ${token}`);
  const api = new HttpApiClient({
    transport: fake,
    credentials: { authorization },
    clock,
    log: silentLog,
    userAgent: 'x/1',
  });
  return { clock, fake, api };
}

const map = (name: string, value: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { value },
});
const podNamed = (name: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'main', image: 'x' }] },
});

describe('the other client', () => {
  test('puts objects, and makes those that are there look like it', async () => {
    const { fake, api, clock } = setUp();
    const first = fake.objects.put(map('a', '1'));
    await clock.advance(5_000);
    const second = fake.objects.put(map('a', '2'));
    assert.equal(second.metadata?.uid, first.metadata?.uid);
    assert.equal(second.metadata?.creationTimestamp, '2025-01-01T00:00:00Z');
    assert.equal(fake.objects.put(map('a', '2')).metadata?.resourceVersion, second.metadata?.resourceVersion);
    assert.deepEqual(await api.get(configMaps, { namespace: 'default', name: 'a' }), second);
    assert.deepEqual(
      fake.requests().map(({ verb, name }) => [verb, name]),
      [['get', 'a']],
    );
  });

  test('writes what no update may write', () => {
    const { fake } = setUp();
    const pod = fake.objects.put({ ...podNamed('a'), status: { phase: 'Running' } });
    assert.deepEqual([pod.status, pod.metadata?.generation], [{ phase: 'Running' }, 1]);
    fake.objects.bind({ name: 'a' }, 'node-1');
    const bound = fake.objects.get<Pod>(pods, { name: 'a' });
    assert.equal(bound.spec?.nodeName, 'node-1');
    assert.equal(bound.status?.phase, 'Running');
    const moved = fake.objects.edit<Pod>(pods, { name: 'a' }, (object) => {
      const { spec = { containers: [] } } = object;
      return { ...object, spec: { ...spec, nodeName: 'node-2' } };
    });
    assert.deepEqual([moved.spec?.nodeName, moved.metadata?.generation], ['node-2', 2]);
  });

  test('removes pods with their grace, or at once', () => {
    const { fake } = setUp();
    fake.objects.put({ ...podNamed('a'), spec: { containers: [], nodeName: 'n' } });
    fake.objects.remove(pods, { name: 'a' });
    assert.equal(fake.objects.find<Pod>(pods, { name: 'a' })?.metadata?.deletionTimestamp, '2025-01-01T00:00:30Z');
    fake.objects.remove(pods, { name: 'a' }, 0);
    assert.equal(fake.objects.find(pods, { name: 'a' }), undefined);
    fake.objects.put({ ...podNamed('b'), metadata: { name: 'b', finalizers: ['x/y'] } });
    fake.objects.wipe(pods, { name: 'b' });
    assert.deepEqual(fake.objects.all(pods), []);
    assert.throws(() => fake.objects.remove(pods, { name: 'b' }), { code: 404 });
    assert.throws(() => fake.objects.put({ apiVersion: 'v1', kind: 'Unheard' }), /does not know v1 Unheard/);
  });
});

describe('the log of requests', () => {
  test('tells who asked for what, and what became of it', async () => {
    const { fake, api, clock } = setUp();
    await api.create<Node>(nodes, undefined, { metadata: { name: 'n' } });
    await clock.advance(1_000);
    await assert.rejects(api.get(pods, { namespace: 'default', name: 'none' }));
    await api.patch(nodes, { name: 'n' }, { status: {} }, { type: 'strategic', subresource: 'status' });
    const [created] = fake.requests({ verb: 'create' });
    assert.deepEqual(
      [created?.user, created?.userAgent, created?.at, created?.status, created?.body],
      ['kubernetes-admin', 'x/1', 0, 201, { metadata: { name: 'n' } }],
    );
    assert.deepEqual(
      fake.requests({ resource: 'pods', status: 404 }).map(({ at, name }) => [at, name]),
      [[1_000, 'none']],
    );
    assert.equal(fake.requests({ subresource: 'status', name: 'n', method: 'PATCH' }).length, 1);
    fake.forgetRequests();
    assert.deepEqual(fake.requests(), []);
  });
});

describe('identities', () => {
  test('a token says who somebody is until it ends', async () => {
    const { fake, api, clock } = setUp({}, 'secret');
    await assert.rejects(api.list(nodes), { status: 401, kind: 'denied' });
    fake.tokens.add('secret', { name: 'system:bootstrap:a', groups: ['system:bootstrappers'] }, clock.now() + 1_000);
    await api.list(nodes);
    assert.equal(fake.requests().at(-1)?.user, 'system:bootstrap:a');
    await clock.advance(1_000);
    await assert.rejects(api.list(nodes), { status: 401 });
  });

  test('who may do what is up to the test', async () => {
    const { api, fake } = setUp({ authorize: ({ verb }, user) => verb === 'list' || user.name === 'root' });
    await api.list(pods);
    const remoteMessage = 'pods "a" is forbidden: User "kubernetes-admin" cannot get resource "pods" in API group ""';
    await assert.rejects(api.get(pods, { namespace: 'default', name: 'a' }), {
      status: 403,
      reason: 'Forbidden',
      remoteMessage,
    });
    const answer = await fake.as({ name: 'root', groups: [] }).send({
      method: 'GET',
      path: '/api/v1/nodes/none',
      headers: {},
      signal: new AbortController().signal,
    });
    assert.equal(answer.status, 404);
  });

  test('tokens of service accounts can be reviewed, and access too', async () => {
    const { api, fake, clock } = setUp({ allows: (spec) => spec['user'] === 'good' });
    const request: TokenRequest = { spec: { audiences: ['x'], expirationSeconds: 600 } };
    const options = { of: 'default', subresource: 'token' };
    const { status } = await api.create<TokenRequest>(serviceAccounts, 'default', request, options);
    const statusOf = async (resource: ApiResource, spec: object): Promise<unknown> => {
      const answer = await api.create<ApiObject, { readonly status: unknown }>(resource, undefined, {
        spec,
      } as ApiObject);
      return answer.status;
    };
    const review = (token = ''): Promise<unknown> => statusOf(apiResources.tokenReviews, { token });
    const groups = ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'];
    const user = { username: 'system:serviceaccount:default:default', groups };
    assert.deepEqual(await review(status?.token), { authenticated: true, user });
    assert.deepEqual(await review('abc'), { user: {}, error: 'invalid bearer token' });
    await clock.advance(600_000);
    assert.deepEqual(await review(status?.token), { user: {}, error: 'invalid bearer token' });
    const allowed = (user: string): Promise<unknown> => statusOf(apiResources.subjectAccessReviews, { user });
    assert.deepEqual([await allowed('good'), await allowed('bad')], [{ allowed: true }, { allowed: false }]);
    assert.deepEqual(fake.objects.all(apiResources.tokenReviews), []);
  });

  test('a signer of the test answers requests for certificates', async () => {
    const { api, clock, fake } = setUp({
      signer: ({ metadata }) =>
        metadata?.name === 'good'
          ? { certificate: 'PEM' }
          : metadata?.name === 'bad'
            ? { condition: 'Denied', reason: 'No', message: 'never' }
            : undefined,
    });
    const ask = (name: string): Promise<CertificateSigningRequest> =>
      api.create<CertificateSigningRequest>(certificateSigningRequests, undefined, {
        metadata: { name },
        spec: { request: 'x', signerName: 'kubernetes.io/kubelet-serving', usages: [] },
      });
    const statusOf = async (name: string): Promise<CertificateSigningRequest['status']> =>
      (await api.get<CertificateSigningRequest>(certificateSigningRequests, { name })).status;
    for (const name of ['good', 'bad', 'slow']) assert.deepEqual((await ask(name)).status, {});
    await clock.advance(0);
    const good = await statusOf('good');
    assert.equal(Buffer.from(good?.certificate ?? '', 'base64').toString(), 'PEM');
    assert.equal(good?.conditions?.[0]?.type, 'Approved');
    assert.deepEqual(
      (await statusOf('bad'))?.conditions?.map(({ type, reason }) => [type, reason]),
      [['Denied', 'No']],
    );
    assert.deepEqual(await statusOf('slow'), {});
    fake.settleCertificate('slow', { certificate: 'LATE' });
    assert.equal((await statusOf('slow'))?.certificate, Buffer.from('LATE').toString('base64'));
  });
});

test('a mistake of the test is told to whoever asks', async () => {
  const { api } = setUp({
    authorize: () => {
      throw new Error('oh');
    },
  });
  await assert.rejects(api.list(pods), { status: 500, remoteMessage: 'mistake in the fake API server: oh' });
});

test('two runs are the same to the last byte', async () => {
  const run = async (): Promise<string> => {
    const { fake, api } = setUp();
    await api.create(pods, 'default', { metadata: { generateName: 'a-' }, spec: { containers: [] } });
    return JSON.stringify(fake.objects.all(pods));
  };
  assert.equal(await run(), await run());
});
