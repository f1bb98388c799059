import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import type { Lease, Pod, PodSpec } from '../../../src/gen/kubernetes/types.ts';
import { apiResources } from '../../../src/model/api-resources.ts';
import type { JsonMap } from '../../../src/model/patch-schema.ts';
import { FakeApiServer, serveFakeApiServer, type ServedApiServer } from '../../../src/testing/fake-api-server/index.ts';
import {
  createFakeCri,
  fileLogs,
  serveFakeCri,
  type FakeCri,
  type ServedFakeCri,
} from '../../../src/testing/fake-cri/index.ts';
import { aContainer, testImage } from '../../../src/testing/pods.ts';
import { realFolder, type RealFolder } from '../../support/real-folders.ts';
import { freePorts, readyCondition, startedWork } from '../../support/real-node.ts';
import { Program, tubelet } from '../../support/real-program.ts';
import { clock, until } from '../../support/real-wait.ts';
import { HealthWatch, type HealthReport } from './health-watch.ts';

export const nodeName = 'limits-node';
/** Renewed every second, so that a short attack shows whether it is. */
const leaseSeconds = 4;
/** What the issue allows a health check under attack. */
const maxHealthMs = 1_000;

interface LimitNodeOptions {
  /** Further fields of KubeletConfiguration. */
  readonly configuration?: JsonMap;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** No API server: static pods alone. */
  readonly standalone?: boolean;
  /** The answer to a SubjectAccessReview by its spec; everything is allowed by default. */
  readonly allows?: (spec: JsonMap) => boolean;
}

export interface SecureAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly ms: number;
}

/** What the node did during an attack. */
export interface Endured {
  readonly health: HealthReport;
  readonly rssBeforeKb: number;
  readonly rssPeakKb: number;
  readonly rssAfterKb: number;
}

/** The real program under the flags we ship, between a runtime and an API server that the test commands. */
export class LimitNode {
  readonly cri: FakeCri;
  readonly api: FakeApiServer;
  readonly port: number;
  readonly healthzPort: number;
  readonly readOnlyPort: number;
  readonly #folder: RealFolder;
  readonly #options: LimitNodeOptions;
  readonly #runtime: ServedFakeCri;
  readonly #server: ServedApiServer;
  #agent: Program | undefined;
  #bystanders = 0;

  private constructor(
    folder: RealFolder,
    options: LimitNodeOptions,
    parts: {
      cri: FakeCri;
      api: FakeApiServer;
      runtime: ServedFakeCri;
      server: ServedApiServer;
      ports: readonly number[];
    },
  ) {
    this.#folder = folder;
    this.#options = options;
    this.cri = parts.cri;
    this.api = parts.api;
    this.#runtime = parts.runtime;
    this.#server = parts.server;
    [this.port = 0, this.healthzPort = 0, this.readOnlyPort = 0] = parts.ports;
  }

  /** Starts everything but the agent. */
  static async create(name: string, options: LimitNodeOptions = {}): Promise<LimitNode> {
    const folder = await realFolder(`limits-${name}`);
    const cri = createFakeCri({ clock, logs: fileLogs });
    cri.images.add(testImage);
    const api = new FakeApiServer({ clock, allows: options.allows ?? (() => true) });
    const runtime = await serveFakeCri(cri, join(folder.path, 'runtime.sock'));
    const server = await serveFakeApiServer(api);
    const node = new LimitNode(folder, options, { cri, api, runtime, server, ports: await freePorts(3) });
    for (const path of [node.manifests, node.rootDir]) mkdirSync(path, { recursive: true });
    await node.#configure();
    return node;
  }

  /** Starts everything, and waits until the agent looks after pods. */
  static async start(name: string, options: LimitNodeOptions = {}): Promise<LimitNode> {
    const node = await LimitNode.create(name, options);
    try {
      await node.startAgent();
      return node;
    } catch (error) {
      await node.destroy();
      throw error;
    }
  }

  /** A folder for what a test needs besides. */
  get path(): string {
    return this.#folder.path;
  }

  get rootDir(): string {
    return join(this.path, 'kubelet');
  }

  get manifests(): string {
    return join(this.path, 'manifests');
  }

  get podLogs(): string {
    return join(this.path, 'pod-logs');
  }

  /** File with the authority that vouches for clients of the secured port. */
  get clientAuthority(): string {
    return join(this.path, 'clients.crt');
  }

  get agent(): Program {
    if (this.#agent === undefined) throw new Error('the agent was not started');
    return this.#agent;
  }

  async startAgent(
    flags: readonly string[] = [],
    env: Readonly<Record<string, string>> = this.#options.env ?? {},
  ): Promise<Program> {
    const words = [tubelet, ...this.#flags(), ...(this.#options.flags ?? []), ...flags];
    this.#agent = new Program(words, env);
    await this.#agent.said(startedWork);
    return this.#agent;
  }

  async stopAgent(): Promise<void> {
    await this.#agent?.end();
  }

  /** A certificate and key for a client of the secured port, as files. */
  async clientFiles(
    name = 'admin',
    groups: readonly string[] = ['system:masters'],
  ): Promise<{ cert: string; key: string }> {
    const { certificate, key } = await this.#server.authority.client(name, groups);
    const files = { cert: join(this.path, `${name}.crt`), key: join(this.path, `${name}.key`) };
    writeFileSync(files.cert, certificate);
    writeFileSync(files.key, key, { mode: 0o600 });
    return files;
  }

  /** Asks the secured port on a connection of its own, as a client with a certificate or a token. */
  async ask(
    path: string,
    as: { readonly cert: string; readonly key: string } | { readonly token: string },
    options: { readonly method?: string; readonly timeoutMs?: number; readonly from?: string } = {},
  ): Promise<SecureAnswer> {
    const began = clock.monotonic();
    const identity =
      'token' in as
        ? { headers: { authorization: `Bearer ${as.token}` } }
        : { cert: readFileSync(as.cert), key: readFileSync(as.key) };
    return new Promise((resolve, reject) => {
      const asked = request(
        {
          host: '127.0.0.1',
          port: this.port,
          path,
          method: options.method ?? 'GET',
          rejectUnauthorized: false,
          agent: false,
          ...(options.from !== undefined && { localAddress: options.from }),
          signal: AbortSignal.timeout(options.timeoutMs ?? 30_000),
          ...identity,
        },
        (response) => {
          const pieces: Buffer[] = [];
          response.on('data', (piece: Buffer) => pieces.push(piece));
          response.on('error', reject);
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: Buffer.concat(pieces).toString(),
              ms: clock.monotonic() - began,
            }),
          );
        },
      );
      asked.on('error', reject).end();
    });
  }

  /** A pod that the scheduler has just bound to this node. */
  schedule(name: string, spec: Partial<PodSpec> = {}, metadata: Pod['metadata'] = {}): Pod {
    return this.api.objects.put<Pod>({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', ...metadata },
      spec: {
        nodeName,
        containers: [aContainer('main')],
        restartPolicy: 'Always',
        terminationGracePeriodSeconds: 1,
        dnsPolicy: 'Default',
        enableServiceLinks: false,
        automountServiceAccountToken: false,
        ...spec,
      },
    });
  }

  pod(name: string): Pod | undefined {
    return this.api.objects.find<Pod>(apiResources.pods, { namespace: 'default', name });
  }

  ready(name: string, timeoutMs = 60_000): Promise<Pod> {
    return until(
      `pod ${name} is ready`,
      () => {
        const pod = this.pod(name);
        return readyCondition(pod) === 'True' && pod;
      },
      { timeoutMs, state: () => ({ status: this.pod(name)?.status, log: this.#agent?.text.slice(-2_000) }) },
    );
  }

  /** Asks for a pod to end, and waits until the API server has forgotten it. */
  async remove(name: string, timeoutMs = 60_000): Promise<void> {
    this.api.objects.remove(apiResources.pods, { namespace: 'default', name });
    await until(`pod ${name} is gone`, () => this.pod(name) === undefined, {
      timeoutMs,
      state: () => ({ pod: this.pod(name), log: this.#agent?.text.slice(-2_000) }),
    });
  }

  /** Puts a manifest into the folder as one should: written elsewhere, then renamed. */
  putManifest(name: string, text: string): void {
    const hidden = join(this.manifests, `.${name}.new`);
    writeFileSync(hidden, text);
    renameSync(hidden, join(this.manifests, name));
  }

  removeManifest(name: string): void {
    rmSync(join(this.manifests, name));
  }

  healthz(): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.healthzPort}/healthz`, { signal: AbortSignal.timeout(20_000) });
  }

  /** Resident memory of the agent; that of its helpers is not in it. */
  rssKb(): number {
    const status = readFileSync(`/proc/${this.agent.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
  }

  lease(): Lease | undefined {
    return this.api.objects.find<Lease>(apiResources.leases, { namespace: 'kube-node-lease', name: nodeName });
  }

  /**
   * Carries out an attack, and demands that the node does what it is there for meanwhile: `/healthz` answers within a
   * second, the lease is renewed, another pod starts and ends, and the process lives.
   */
  async during(attack: () => Promise<void>): Promise<Endured> {
    const { agent } = this;
    const rssBeforeKb = this.rssKb();
    let rssPeakKb = rssBeforeKb;
    const watched = { isOver: false };
    const sampled = (async () => {
      while (!watched.isOver) {
        if (agent.running) rssPeakKb = Math.max(rssPeakKb, this.rssKb());
        await clock.sleep(100);
      }
    })();
    const health = HealthWatch.start(`http://127.0.0.1:${this.healthzPort}/healthz`);
    const renewed = this.lease()?.spec?.renewTime;
    try {
      await Promise.all([attack(), this.#bystanderLives()]);
      this.#demandLife(agent);
      if (this.#options.standalone !== true)
        await until('the lease is renewed', () => this.lease()?.spec?.renewTime !== renewed, {
          timeoutMs: leaseSeconds * 1_000,
        });
    } finally {
      watched.isOver = true;
      await sampled;
      await health.stop();
    }
    this.#demandLife(agent);
    const report = await health.stop();
    if (report.failures.length > 0 || report.slowestMs > maxHealthMs + report.lateMs || report.asked === 0)
      throw new Error(`/healthz under attack: ${JSON.stringify(report)}`);
    return { health: report, rssBeforeKb, rssPeakKb, rssAfterKb: this.rssKb() };
  }

  /** Waits until memory is near where it was; the engine gives it back in its own time. */
  async memoryReturns(toKb: number, timeoutMs = 60_000): Promise<number> {
    return until(`resident memory is at most ${toKb} KiB`, () => this.rssKb() <= toKb && this.rssKb(), {
      timeoutMs,
      state: () => this.rssKb(),
    });
  }

  async destroy(): Promise<void> {
    await this.#agent?.end();
    await this.#runtime.stop();
    await this.#server.stop();
    await this.#folder.remove();
  }

  async #bystanderLives(): Promise<void> {
    if (this.#options.standalone === true) return;
    const name = `bystander-${++this.#bystanders}`;
    this.schedule(name);
    await this.ready(name);
    await this.remove(name);
  }

  #demandLife(agent: Program): void {
    if (agent !== this.#agent || !agent.running) throw new Error(`the agent ended: ${agent.text.slice(-4_000)}`);
  }

  #flags(): readonly string[] {
    return [
      `--config=${join(this.path, 'kubelet.json')}`,
      `--root-dir=${this.rootDir}`,
      `--cert-dir=${join(this.path, 'pki')}`,
      `--hostname-override=${nodeName}`,
      ...(this.#options.standalone === true ? [] : [`--kubeconfig=${join(this.path, 'kubeconfig')}`]),
      '--v=2',
    ];
  }

  async #configure(): Promise<void> {
    const standalone = this.#options.standalone === true;
    writeFileSync(this.clientAuthority, this.#server.authority.certificate);
    const config = {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      staticPodPath: this.manifests,
      containerRuntimeEndpoint: this.#runtime.endpoint,
      podLogsDir: this.podLogs,
      volumePluginDir: join(this.path, 'volume-plugins'),
      address: '127.0.0.1',
      port: this.port,
      healthzPort: this.healthzPort,
      readOnlyPort: this.readOnlyPort,
      authentication: {
        anonymous: { enabled: false },
        webhook: { enabled: !standalone, cacheTTL: '2m' },
        x509: { clientCAFile: this.clientAuthority },
      },
      authorization: { mode: standalone ? 'AlwaysAllow' : 'Webhook' },
      nodeLeaseDurationSeconds: leaseSeconds,
      failSwapOn: false,
      makeIPTablesUtilChains: false,
      // Containers that are only in memory have no cgroups.
      cgroupsPerQOS: false,
      enforceNodeAllocatable: [],
      ...this.#options.configuration,
    };
    writeFileSync(join(this.path, 'kubelet.json'), JSON.stringify(config));
    const node = await this.#server.authority.client(`system:node:${nodeName}`, ['system:nodes']);
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const kubeconfig = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'c',
          cluster: {
            server: this.#server.url,
            'certificate-authority-data': base64(this.#server.authority.certificate),
          },
        },
      ],
      users: [
        {
          name: 'n',
          user: { 'client-certificate-data': base64(node.certificate), 'client-key-data': base64(node.key) },
        },
      ],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'n' } }],
      'current-context': 'x',
    };
    writeFileSync(join(this.path, 'kubeconfig'), JSON.stringify(kubeconfig), { mode: 0o600 });
  }
}
