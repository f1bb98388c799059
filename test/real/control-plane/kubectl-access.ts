import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { NoSession } from '../../support/spdy-client.ts';
import { until } from '../../support/real-wait.ts';
import { ChannelSocket } from '../../support/websocket-client.ts';
import { CertificateAuthority, type KeyPair } from './certificates.ts';
import { servingSubject, type KubectlWorld, type Shown } from './kubectl-world.ts';

/** Pages by the right that opens them. */
const pages = {
  pods: ['/pods', '/runningpods/'],
  healthz: ['/healthz', '/healthz/syncloop'],
  configz: ['/configz'],
  stats: ['/stats/summary'],
  metrics: ['/metrics', '/metrics/cadvisor', '/metrics/resource', '/metrics/probes', '/metrics/slis'],
  log: ['/logs/'],
  proxy: ['/containerLogs/default/talk/count', '/debug/pprof/'],
} as const;
const openedByProxy: readonly string[] = ['pods', 'healthz', 'configz', 'proxy'];

type RightName = keyof typeof pages;
const rights = Object.keys(pages) as readonly RightName[];

const commandPath = '/run/default/talk/other?cmd=true';
const execPath = '/exec/default/talk/other?command=echo&command=hello&output=1';

/** Who may ask the agent itself for what, and how it learns whom to trust and who it is. */
export class AccessStories {
  readonly #world: KubectlWorld;
  readonly #people = new Map<string, KeyPair>();

  constructor(world: KubectlWorld) {
    this.#world = world;
  }

  async badCredentials(): Promise<void> {
    const stranger = new CertificateAuthority(join(this.#world.plane.path, 'strangers'));
    await stranger.create();
    const shown: readonly Shown[] = [
      undefined,
      { token: 'bad' },
      { token: `${'a'.repeat(20)}.${'b'.repeat(40)}.${'c'.repeat(20)}` },
      await stranger.issue('admin', { user: 'kubernetes-admin', group: 'system:masters' }),
      // Of the right authority, but there for servers.
      this.#world.files.serving,
    ];
    for (const one of shown) {
      for (const path of ['/healthz', '/pods', '/metrics', '/no/such', execPath]) {
        assert.deepEqual(await this.#world.asked(path, one), { status: 401, body: 'Unauthorized' });
      }
    }
  }

  async grantedAndTakenBack(): Promise<void> {
    const somebody = await this.#person('somebody');
    for (const path of Object.values(pages).flat()) assert.equal(await this.#status(path, somebody), 403, path);
    const { body } = await this.#world.asked('/pods', somebody);
    assert.equal(body, 'Forbidden (user=somebody, verb=get, resource=nodes, subresource(s)=[pods proxy])');
    await this.#world.here.apply(...grant('somebody', ['get'], 'pods'));
    await this.#answers(200, '/pods', somebody);
    await this.#world.plane.ask('delete', 'clusterrolebinding', 'test:somebody');
    await this.#answers(403, '/pods', somebody);
  }

  async eachRightAlone(): Promise<void> {
    await this.#world.here.apply(...rights.flatMap((right) => grant(`only-${right}`, ['get'], right)));
    for (const right of rights) {
      const who = await this.#person(`only-${right}`);
      await this.#answers(200, pages[right][0], who);
      for (const other of rights) {
        const opens = other === right || (right === 'proxy' && openedByProxy.includes(other));
        for (const path of pages[other]) {
          assert.equal(await this.#status(path, who), opens ? 200 : 403, `nodes/${right} and ${path}`);
        }
      }
      // Who may read cannot change anything.
      assert.equal(await this.#status('/debug/flags/v', who, 'PUT'), 403);
      assert.equal(await this.#status(commandPath, who, 'POST'), 403);
    }
  }

  async serviceAccount(): Promise<void> {
    const { plane, here } = this.#world;
    const name = 'account-reader';
    await plane.ask('create', 'serviceaccount', name, '--namespace=default');
    const shown = { token: (await plane.ask('create', 'token', name, '--namespace=default')).trim() };
    const { status, body } = await this.#world.asked('/metrics', shown);
    assert.equal(status, 403);
    assert.match(body, /^Forbidden \(user=system:serviceaccount:default:account-reader, verb=get, /);
    await here.apply(...grant(name, ['get'], 'metrics'));
    await this.#answers(200, '/metrics', shown);
    assert.equal(await this.#status('/pods', shown), 403);
  }

  /** After `eachRightAlone`. */
  async commandsNeedCreate(): Promise<void> {
    const [reader, runner] = [await this.#person('only-proxy'), await this.#person('runner')];
    await this.#world.here.apply(...grant('runner', ['get', 'create'], 'proxy'));
    await this.#answers(200, '/debug/pprof/', runner);
    assert.equal(await this.#hello(runner), 'hello\n');
    const missing = 'Forbidden (user=only-proxy, verb=create, resource=nodes, subresource(s)=[proxy])';
    await assert.rejects(this.#hello(reader), new NoSession(403, missing));
    const { agent } = this.#world.node;
    await agent.said(/"Audit" user="runner" .* method="GET" path="\/exec\/.* command="echo" outcome="handed over"/);
    await agent.said(/"Audit" user="only-proxy" .* method="GET" path="\/exec\/.* command="echo" outcome="403"/);
  }

  /** After `eachRightAlone`. */
  async clientAuthorities(): Promise<void> {
    const { plane, files } = this.#world;
    const next = new CertificateAuthority(join(plane.path, 'next-authority'));
    await next.create();
    const [before, behind] = [await this.#person('only-healthz'), await next.issue('next', { user: 'only-healthz' })];
    const seen = async (): Promise<string> =>
      `${await this.#status('/healthz', before)} ${await this.#status('/healthz', behind)}`;
    assert.equal(await seen(), '200 401');
    copyFileSync(next.certificate, files.clients);
    await until('only the new one counts', async () => (await seen()) === '401 200', { state: seen });
    appendFileSync(files.clients, readFileSync(plane.authority.certificate));
    await until('both count', async () => (await seen()) === '200 200', { state: seen });
    await this.#apiServerIsServed();
  }

  async servingCertificate(): Promise<void> {
    const { plane, files } = this.#world;
    const before = await this.#shownCertificate();
    const next = await plane.authority.issue('serving-2', servingSubject);
    for (const kind of ['key', 'certificate'] as const) writeFileSync(files.serving[kind], readFileSync(next[kind]));
    const after = await until('another certificate is shown', async () => {
      const seen = await this.#shownCertificate();
      return seen !== before && seen;
    });
    assert.equal(after, new X509Certificate(readFileSync(next.certificate)).fingerprint256);
    await this.#apiServerIsServed();
  }

  /** After `eachRightAlone`. */
  async upstreamVerbs(): Promise<void> {
    const reader = await this.#person('only-proxy');
    await this.#world.restartAgent({ TUBELET_STREAMING_VERBS: 'upstream' }, reader);
    assert.equal(await this.#hello(reader), 'hello\n');
    assert.equal(await this.#status(commandPath, reader, 'POST'), 403);
  }

  /** A user with a certificate of the cluster, and no more rights than somebody gives it. */
  async #person(user: string): Promise<KeyPair> {
    const known = this.#people.get(user) ?? (await this.#world.plane.authority.issue(user, { user }));
    this.#people.set(user, known);
    return known;
  }

  async #status(path: string, shown: Shown, method?: string): Promise<number> {
    return (await this.#world.asked(path, shown, method)).status;
  }

  /** The API server hears of rights by watches, and the agent remembers its answers for a moment. */
  async #answers(status: number, path: string, shown: Shown): Promise<void> {
    const ask = async (): Promise<boolean> => (await this.#status(path, shown)) === status;
    await until(`${path} is answered by ${status}`, ask, { state: () => this.#world.asked(path, shown) });
  }

  /** What a command says that somebody runs by GET and a WebSocket. */
  async #hello(shown: Shown): Promise<string> {
    const socket = await ChannelSocket.open({ ...this.#world.direct(shown), path: execPath }, ['v4.channel.k8s.io']);
    const stdout = socket.channel(1);
    await stdout.until(() => stdout.text.endsWith('\n'));
    socket.close();
    return stdout.text;
  }

  /** Of whoever connects now. */
  async #shownCertificate(): Promise<string> {
    const { host, port, tls } = this.#world.direct(undefined);
    const socket = connect({ ...tls, host, port });
    await once(socket, 'secureConnect');
    const { fingerprint256 } = socket.getPeerCertificate();
    socket.destroy();
    return fingerprint256;
  }

  async #apiServerIsServed(): Promise<void> {
    assert.equal(await this.#world.raw('healthz'), 'ok');
  }
}

/** Objects by which a user, or a service account, may do something with a subresource of nodes. */
function grant(user: string, verbs: readonly string[], subresource: string): readonly object[] {
  const apiGroup = 'rbac.authorization.k8s.io';
  const apiVersion = `${apiGroup}/v1`;
  const metadata = { name: `test:${user}` };
  const subject = user.startsWith('account-')
    ? { kind: 'ServiceAccount', name: user, namespace: 'default' }
    : { apiGroup, kind: 'User', name: user };
  const roleRef = { apiGroup, kind: 'ClusterRole', name: metadata.name };
  const rules = [{ apiGroups: [''], resources: [`nodes/${subresource}`], verbs }];
  return [
    { apiVersion, kind: 'ClusterRole', metadata, rules },
    { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects: [subject] },
  ];
}
