import assert from 'node:assert/strict';
import { createCertificate, createCsr, createKey } from '../../apiserver/index.ts';
import type { CertificateSigningRequest, ServiceAccount, TokenRequest } from '../../gen/kubernetes/types.ts';
import { apiResources } from '../../model/api-resources.ts';
import { clock, refused, type Examine, type World } from './world.ts';

const { serviceAccounts, certificateSigningRequests } = apiResources;
const hour = 3_600_000;

function ask(world: World, spec: TokenRequest['spec'], of = 'default'): Promise<TokenRequest> {
  const request: TokenRequest = { spec };
  return world.api.create<TokenRequest>(serviceAccounts, world.namespace, request, { of, subresource: 'token' });
}

export function identityTests(examine: Examine): void {
  examine('a service account gets tokens for a pod', async (world) => {
    const pod = await world.pod();
    const { name = '', uid = '' } = pod.metadata ?? {};
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name, uid };
    const answer = await ask(world, { audiences: ['somebody'], expirationSeconds: 600, boundObjectRef });
    const { token = '', expirationTimestamp = '' } = answer.status ?? {};
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<
      string,
      unknown
    >;
    assert.deepEqual(
      [claims['sub'], claims['aud']],
      [`system:serviceaccount:${world.namespace}:default`, ['somebody']],
    );
    // A server reads its clock once for the claims and once for the answer: the two may stand in different seconds.
    const apart = Math.abs(Number(claims['exp']) - Date.parse(expirationTimestamp) / 1_000);
    assert.ok(apart <= 5, `the token and the answer name ends ${apart} s apart`);
    const own = claims['kubernetes.io'] as { readonly pod?: unknown; readonly serviceaccount?: unknown };
    const account = await world.api.get<ServiceAccount>(serviceAccounts, world.ref('default'));
    assert.deepEqual(own.pod, { name, uid });
    assert.deepEqual(own.serviceaccount, { name: 'default', uid: account.metadata?.uid });
    assert.deepEqual([answer.kind, answer.metadata?.name], ['TokenRequest', 'default']);
  });

  examine('no token is given for what is not there, or for too short a time', async (world) => {
    const pod = await world.pod();
    const ref = { kind: 'Pod', apiVersion: 'v1', name: pod.metadata?.name ?? '' };
    const bound = (boundObjectRef: object): Promise<TokenRequest> => ask(world, { audiences: ['x'], boundObjectRef });
    const missing = { kind: 'notFound', status: 404, reason: 'NotFound' } as const;
    await refused(bound({ ...ref, name: 'none', uid: 'x' }), { ...missing, words: 'pods "none" not found' });
    await refused(ask(world, { audiences: ['x'] }, 'none'), { ...missing, words: 'serviceaccounts "none" not found' });
    await refused(bound({ ...ref, uid: 'another' }), {
      kind: 'conflict',
      status: 409,
      reason: 'Conflict',
      words:
        `Operation cannot be fulfilled on Pod "${ref.name}": the UID in the bound object reference (another) does not ` +
        'match the UID in record. The object might have been deleted and then recreated',
    });
    const words = /may not specify a duration less than 10 minutes$/;
    const short = ask(world, { audiences: ['x'], expirationSeconds: 5 });
    await refused(short, { kind: 'invalid', status: 422, reason: 'Invalid', words });
  });

  examine('a certificate is asked for, approved and issued in separate writes', async (world) => {
    const name = world.unique('csr');
    const key = await createKey();
    const subject = { commonName: 'system:node:a', organizations: ['system:nodes'] };
    const request = Buffer.from(createCsr({ key, subject })).toString('base64');
    const pem = createCertificate({
      key,
      subject,
      serial: '01',
      notBefore: clock.now() - hour,
      notAfter: clock.now() + hour,
    });
    const certificate = Buffer.from(pem).toString('base64');
    const made = await world.api.create<CertificateSigningRequest>(certificateSigningRequests, undefined, {
      metadata: { name },
      spec: { request, signerName: 'example.com/nobody', usages: ['client auth'], username: 'somebody-else' },
      status: { certificate },
    });
    assert.deepEqual(
      [made.spec.username, made.spec.groups],
      ['kubernetes-admin', ['system:masters', 'system:authenticated']],
    );
    assert.equal(made.status?.certificate, undefined);
    const write = (status: object, subresource?: string): Promise<CertificateSigningRequest> =>
      world.api.patch(
        certificateSigningRequests,
        { name },
        { status },
        { type: 'merge', ...(subresource !== undefined && { subresource }) },
      );
    const unchanged = await write({ certificate });
    assert.equal(unchanged.metadata?.resourceVersion, made.metadata?.resourceVersion);
    const condition = { type: 'Approved', status: 'True', reason: 'Tested', message: 'x' };
    const approved = await write({ conditions: [condition] }, 'approval');
    assert.deepEqual([approved.status?.conditions?.[0]?.reason, approved.status?.certificate], ['Tested', undefined]);
    const issued = await write({ certificate }, 'status');
    assert.deepEqual([issued.status?.certificate, issued.status?.conditions?.length], [certificate, 1]);
    await world.api.delete(certificateSigningRequests, { name });
  });
}
