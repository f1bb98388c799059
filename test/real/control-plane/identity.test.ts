import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Heartbeats } from '../../../src/base/heartbeats.ts';
import {
  CertificateStore,
  ClientCertificateManager,
  hostCertificateFiles,
  prepareClientIdentity,
  servingCertificates,
  type BootstrapDeps,
  type ClientIdentityOptions,
} from '../../../src/apiserver/identity/index.ts';
import {
  connectApiServer,
  HttpApiClient,
  Reflector,
  type ApiServerAccess,
  type ApiTransport,
} from '../../../src/apiserver/index.ts';
import { loadKubeconfig } from '../../../src/testing/load-kubeconfig.ts';
import { systemRandom } from '../../../src/base/system-random.ts';
import type { Node } from '../../../src/gen/kubernetes/types.ts';
import { apiResources, type ApiResource } from '../../../src/model/api-resources.ts';
import { Registry } from '../../../src/telemetry/index.ts';
import { MemoryLog } from '../../../src/testing/memory-log.ts';
import { clock, until } from '../../support/real-wait.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';

const nodeName = 'bootstrapped';
const user = `system:node:${nodeName}`;
const random = systemRandom();
const log = new MemoryLog();
const files = hostCertificateFiles(random);
const signal = new AbortController().signal;
/** Minutes-long certificates, renewed after seconds. */
const window = { min: 0.01, max: 0.02 };
const reviews: ApiResource = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
};

let plane: ControlPlane;
let pki = '';
let kubeconfig = '';
const transports: ApiTransport[] = [];

async function connect(
  access: ApiServerAccess,
): Promise<{ readonly api: HttpApiClient; readonly transport: ApiTransport }> {
  const { transport, credentials } = await connectApiServer(access, { clock, log, environment: {} });
  transports.push(transport);
  return { transport, api: new HttpApiClient({ transport, credentials, clock, log, userAgent: 'tubelet-test' }) };
}

before(async () => {
  plane = await startControlPlane({ signingDuration: '5m' });
  pki = join(plane.path, 'node-pki');
  kubeconfig = join(plane.path, 'node.kubeconfig');
});
after(async () => {
  for (const transport of transports) await transport.close();
  await plane?.stop();
});

const storeOf = (): CertificateStore => new CertificateStore({ files, log, folder: pki, purpose: 'client' });
const optionsOf = (): ClientIdentityOptions => ({
  kubeconfig,
  bootstrapKubeconfig: plane.bootstrapKubeconfig(),
  certDir: pki,
  nodeName,
  rotate: true,
});
const depsOf = (): BootstrapDeps => ({
  clock,
  random,
  log,
  files,
  store: storeOf(),
  connect: async (access) => {
    const { api, transport } = await connect(access);
    return { api, close: () => transport.close() };
  },
});

interface Review {
  readonly status?: { readonly userInfo?: { readonly username?: string; readonly groups?: readonly string[] } };
}

/** Fingerprints of the certificates by which the API server knew the node, as its audit log has them. */
function credentialsSeen(): ReadonlySet<string> {
  const key = 'authentication.kubernetes.io/credential-id';
  const ids = plane.audit().flatMap((event) => {
    const { extra } = event.user as { readonly extra?: Readonly<Record<string, readonly string[]>> };
    return event.user.username === user ? (extra?.[key] ?? []) : [];
  });
  return new Set(ids.map((id) => id.replace('X509SHA256=', '').toUpperCase()));
}

const plainHex = (fingerprint: string): string => fingerprint.replaceAll(':', '');

describe('a node without an identity', () => {
  test('gets one by its token, and is known by it', async () => {
    const { access, rotates } = await prepareClientIdentity(optionsOf(), depsOf(), signal);
    assert.equal(rotates, true);
    const link = join(pki, 'kubelet-client-current.pem');
    assert.deepEqual(access.user, { clientCertificate: { file: link }, clientKey: { file: link } });
    assert.equal(statSync(readlinkSync(link)).mode & 0o777, 0o600);
    assert.equal(statSync(kubeconfig).mode & 0o777, 0o600);
    assert.equal(readdirSync(pki).length, 2);
    const certificate = new X509Certificate(readFileSync(link));
    assert.equal(certificate.subject, `O=system:nodes\nCN=${user}`);
    assert.ok(certificate.verify(new X509Certificate(plane.authority.pem).publicKey));

    const { api } = await connect(await loadKubeconfig(kubeconfig));
    const { status } = await api.create<object, Review>(reviews, undefined, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: reviews.kind,
    });
    assert.equal(status?.userInfo?.username, user);
    assert.deepEqual(status?.userInfo?.groups, ['system:nodes', 'system:authenticated']);
    // kubectl reads the kubeconfig too.
    const who = await plane.kubectl(['auth', 'whoami', '--output=jsonpath={.status.userInfo.username}'], undefined, {
      kubeconfig,
    });
    assert.deepEqual([who.stdout, who.stderr], [user, '']);
  });

  test('asks for nothing more at its next start', async () => {
    const asked = (): number =>
      plane.audit().filter(({ verb, requestURI }) => verb === 'create' && requestURI.includes('signing')).length;
    const before = asked();
    assert.equal(before, 1);
    await prepareClientIdentity(optionsOf(), depsOf(), signal);
    assert.equal(asked(), before);
  });
});

describe('a node with an identity', () => {
  test('renews it while a watch misses nothing', async () => {
    const { access } = await prepareClientIdentity(optionsOf(), depsOf(), signal);
    const { api } = await connect(access);
    const object: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName } };
    await api.create(apiResources.nodes, undefined, object);
    const fieldSelector = `metadata.name=${nodeName}`;
    const reflector = new Reflector<Node>({
      heartbeats: new Heartbeats(),
      api,
      clock,
      random,
      log,
      resource: apiResources.nodes,
      fieldSelector,
    });
    const seen: number[] = [];
    reflector.listen((change) => {
      const count = change.type === 'put' ? change.object.metadata?.annotations?.['count'] : undefined;
      if (count !== undefined && seen.at(-1) !== Number(count)) seen.push(Number(count));
      assert.notEqual(change.type, 'gone');
    });
    await reflector.start(signal);
    await reflector.whenSynced(signal);

    const certificates: string[] = [];
    const registry = new Registry();
    const manager = new ClientCertificateManager({
      heartbeats: new Heartbeats(),
      clock,
      random,
      log,
      metrics: registry,
      store: storeOf(),
      nodeName,
      api,
      window,
      // Connections need no signal: they ask for the files with each request.
      onRotated: () => certificates.push(manager.current()?.fingerprint ?? ''),
    });
    await manager.start(signal);
    const { api: admin } = await connect(await loadKubeconfig(plane.adminKubeconfig));
    let count = 0;
    try {
      await until(
        'three certificates have followed each other, each with a few changes of the node',
        async () => {
          count++;
          const patch = { metadata: { annotations: { count: String(count) } } };
          await admin.patch(apiResources.nodes, { name: nodeName }, patch, { type: 'merge' });
          // Something of the node's own, by the newest connection.
          await api.get(apiResources.nodes, { name: nodeName });
          return certificates.length >= 3 && certificates.every((print) => credentialsSeen().has(plainHex(print)));
        },
        { timeoutMs: 120_000, state: () => ({ certificates, log: log.messages().slice(-10) }) },
      );
      await until('the last change is seen', () => seen.at(-1) === count);
    } finally {
      await manager.stop();
      await reflector.stop();
    }
    assert.deepEqual(
      seen,
      Array.from({ length: count }, (_, index) => index + 1),
    );
    const left = /^kubelet_certificate_manager_client_ttl_seconds (.*)$/m.exec(registry.render())?.[1];
    assert.ok(Number(left) > 200 && Number(left) <= 300, left);
    assert.equal(
      new X509Certificate(readFileSync(join(pki, 'kubelet-client-current.pem'))).fingerprint256,
      certificates.at(-1),
    );
    assert.deepEqual(log.messages('error'), []);
  });

  test('gets a serving certificate when somebody approves it', async () => {
    const { api } = await connect(await loadKubeconfig(kubeconfig));
    const serving = servingCertificates(
      {
        tlsCertFile: '',
        tlsPrivateKeyFile: '',
        certDir: pki,
        serverTlsBootstrap: true,
        reloadFiles: true,
        nodeName,
        hostName: nodeName,
      },
      {
        heartbeats: new Heartbeats(),
        clock,
        random,
        log,
        metrics: new Registry(),
        files,
        cluster: {
          api,
          addresses: () => [
            { type: 'InternalIP', address: '127.0.0.1' },
            { type: 'InternalIP', address: 'fd00::7' },
            { type: 'Hostname', address: nodeName },
          ],
        },
      },
    );
    await serving.start(signal);
    try {
      const name = await until('the request is there', async () => {
        const template = '{range .items[?(@.spec.signerName=="kubernetes.io/kubelet-serving")]}{.metadata.name}{end}';
        const names = await plane.ask('get', 'csr', `--output=jsonpath=${template}`);
        return names !== '' && names;
      });
      assert.equal(serving.current(), undefined);
      await plane.ask('certificate', 'approve', name);
      const { certificate } = await until('the certificate is there', () => serving.current());
      const leaf = new X509Certificate(certificate);
      assert.ok(leaf.verify(new X509Certificate(plane.authority.pem).publicKey));
      assert.deepEqual(
        [leaf.checkIP('127.0.0.1'), leaf.checkIP('fd00::7'), leaf.checkHost(nodeName)],
        ['127.0.0.1', 'fd00::7', nodeName],
      );
    } finally {
      await serving.stop();
    }
  });

  test('was never refused', () => {
    assert.deepEqual(plane.auditForbidden(), []);
  });
});
