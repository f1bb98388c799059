import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { until } from '../../support/real-wait.ts';
import { auditPolicy, forbidden, readAudit, type AuditEvent } from './audit.ts';
import { CertificateAuthority, type Subject } from './certificates.ts';
import { makeClusterFolder, type ClusterFolder } from './cluster-folder.ts';
import { clusterObjects, type BootstrapToken } from './cluster-objects.ts';
import {
  apiServerFlags,
  controllerManagerFlags,
  etcdFlags,
  schedulerFlags,
  type ControlPlaneOptions,
  type Layout,
} from './flags.ts';
import { isHealthy } from './https-get.ts';
import { writeKubeconfig, type Identity } from './kubeconfig.ts';
import { runKubectl, type KubectlOptions, type KubectlResult } from './kubectl.ts';
import { loopbackPorts } from './loopback-ports.ts';
import { programPath } from './programs.ts';
import { holdServiceRange, type ServiceRange } from './service-range.ts';
import { Service, type ServicePlan } from './service.ts';

const frontProxyUser = 'front-proxy-client';

/** A state of the store to come back to. */
interface EtcdSnapshot {
  readonly folder: string;
}

/** etcd, API server, controller manager and scheduler on loopback, in one folder that goes with them. */
export class ControlPlane {
  readonly path: string;
  /** The API server's address. */
  readonly url: string;
  readonly authority: CertificateAuthority;
  readonly adminKubeconfig: string;
  readonly kubectlPath: string;
  /** The first address of the service range: that of the service `kubernetes`, which the API server's certificate names. */
  readonly serviceAddress: string;
  readonly apiServerPort: number;
  readonly etcd: Service;
  readonly apiServer: Service;
  readonly controllerManager: Service;
  readonly scheduler: Service;
  readonly #folder: ClusterFolder;
  readonly #layout: Layout;
  readonly #token: BootstrapToken = { id: randomBytes(3).toString('hex'), secret: randomBytes(8).toString('hex') };
  /** What somebody runs beside the four. */
  readonly #others: Service[] = [];
  #snapshots = 0;

  constructor(folder: ClusterFolder, authority: CertificateAuthority, layout: Layout, options: ControlPlaneOptions) {
    const { ports } = layout;
    const healthy = (port: number, path: string) => (): Promise<boolean> =>
      isHealthy(`https://127.0.0.1:${port}${path}`, authority.pem);
    this.path = folder.path;
    this.url = `https://127.0.0.1:${ports.apiServer}`;
    this.authority = authority;
    this.adminKubeconfig = folder.file('admin.kubeconfig');
    this.kubectlPath = programPath('kubectl');
    this.serviceAddress = layout.services.first;
    this.apiServerPort = ports.apiServer;
    this.#folder = folder;
    this.#layout = layout;
    this.etcd = new Service(folder, {
      program: 'etcd',
      args: etcdFlags(layout),
      ready: async () => (await fetch(`http://127.0.0.1:${ports.etcd}/health`)).ok,
    });
    this.apiServer = new Service(folder, {
      program: 'kube-apiserver',
      args: apiServerFlags(layout, options),
      ready: healthy(ports.apiServer, '/readyz'),
    });
    this.controllerManager = new Service(folder, {
      program: 'kube-controller-manager',
      args: controllerManagerFlags(layout, options),
      ready: healthy(ports.controllerManager, '/healthz'),
    });
    this.scheduler = new Service(folder, {
      program: 'kube-scheduler',
      args: schedulerFlags(layout, options),
      ready: healthy(ports.scheduler, '/readyz'),
    });
  }

  async start(): Promise<void> {
    const { controllerManagerKubeconfig, schedulerKubeconfig, auditPolicy: policy } = this.#layout;
    await this.#kubeconfig(this.adminKubeconfig, { user: 'kubernetes-admin', group: 'system:masters' });
    await this.#kubeconfig(controllerManagerKubeconfig, { user: 'system:kube-controller-manager' });
    await this.#kubeconfig(schedulerKubeconfig, { user: 'system:kube-scheduler' });
    writeFileSync(policy, JSON.stringify(auditPolicy));
    await this.etcd.start();
    await this.apiServer.start();
    await this.#startControllers();
    const objects = JSON.stringify(clusterObjects(this.#token));
    await this.#succeeds('the first objects are there', ['apply', '--filename=-'], objects);
    // Without it no pod can be created.
    await this.#succeeds('pods have a service account', ['get', 'serviceaccount', 'default', '--namespace=default']);
  }

  /** Runs kubectl as administrator, or by the kubeconfig given. */
  kubectl(args: readonly string[], stdin?: string, options: KubectlOptions = {}): Promise<KubectlResult> {
    const { kubeconfig = this.adminKubeconfig, timeoutMs } = options;
    return runKubectl(args, stdin, { kubeconfig, timeoutMs, cacheFolder: this.#folder.file('kubectl-cache') });
  }

  /** What kubectl prints; an error when it fails. */
  async ask(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.kubectl(args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr.trim() || `exit code ${code}`}`);
    return stdout;
  }

  /** The identity of a node that has been in the cluster for long. */
  async nodeKubeconfig(name: string): Promise<string> {
    const subject = { user: `system:node:${name}`, group: 'system:nodes' };
    return this.#kubeconfig(this.#folder.file(`${name}.kubeconfig`), subject);
  }

  /** The identity of a machine that wants to become a node. */
  bootstrapKubeconfig(): string {
    const identity = { token: `${this.#token.id}.${this.#token.secret}` };
    return this.#write(this.#folder.file('bootstrap.kubeconfig'), 'kubelet-bootstrap', identity);
  }

  /** The identity of a service account, which must be there. */
  async serviceAccountKubeconfig(namespace: string, name: string): Promise<string> {
    const identity = { token: await this.serviceAccountToken(namespace, name) };
    return this.#write(this.#folder.file(`${namespace}-${name}.kubeconfig`), name, identity);
  }

  async serviceAccountToken(namespace: string, name: string): Promise<string> {
    return (await this.ask('create', 'token', name, `--namespace=${namespace}`)).trim();
  }

  /** One more program, which ends with the others. */
  async startService(plan: ServicePlan): Promise<Service> {
    const service = new Service(this.#folder, plan);
    this.#others.push(service);
    await service.start();
    return service;
  }

  /** A path for what such a program keeps; it goes with the others. */
  file(name: string): string {
    return this.#folder.file(name);
  }

  startApiServer(): Promise<void> {
    return this.apiServer.start();
  }

  /** Lets it finish what it is doing. */
  stopApiServer(): Promise<void> {
    return this.apiServer.stop();
  }

  killApiServer(): Promise<void> {
    return this.apiServer.kill();
  }

  /** Copies the store while it holds still, as if power had failed at that moment; clients see a short pause. */
  async snapshotEtcd(): Promise<EtcdSnapshot> {
    const folder = this.#folder.file(`snapshot-${this.#snapshots++}`);
    await this.etcd.frozen(() => cp(this.#layout.etcdData, folder, { recursive: true }));
    return { folder };
  }

  /** Wipes the store back. The programs in front of it start anew: what they remember never happened. Nodes are not told. */
  async restoreEtcd(snapshot: EtcdSnapshot): Promise<void> {
    const { etcdData } = this.#layout;
    await Promise.all(this.services.map((service) => service.kill()));
    rmSync(etcdData, { recursive: true, force: true });
    cpSync(snapshot.folder, etcdData, { recursive: true });
    await this.etcd.start();
    await this.apiServer.start();
    await this.#startControllers();
  }

  /** Requests of nodes and of those who want to be. */
  audit(): readonly AuditEvent[] {
    return readAudit(this.#layout.auditLog);
  }

  /** Those that were refused. */
  auditForbidden(user?: string): readonly AuditEvent[] {
    return forbidden(this.audit(), user);
  }

  /** Ends everything and removes the folder. */
  async stop(): Promise<void> {
    // Nobody needs what a polite stop would save.
    await Promise.all([...this.#others, ...this.services].map((service) => service.kill()));
    await this.#layout.services.release();
    await this.#folder.remove();
  }

  get services(): readonly Service[] {
    return [this.controllerManager, this.scheduler, this.apiServer, this.etcd];
  }

  async #startControllers(): Promise<void> {
    await Promise.all([this.controllerManager.start(), this.scheduler.start()]);
  }

  async #succeeds(what: string, args: readonly string[], stdin?: string): Promise<void> {
    let last: KubectlResult | undefined;
    const ask = async (): Promise<boolean> => (last = await this.kubectl(args, stdin)).code === 0;
    await until(what, ask, { timeoutMs: 60_000, state: () => last?.stderr });
  }

  async #kubeconfig(path: string, subject: Subject): Promise<string> {
    return this.#write(path, subject.user, await this.authority.issue(subject.user.replaceAll(':', '-'), subject));
  }

  #write(path: string, user: string, identity: Identity): string {
    return writeKubeconfig(path, { url: this.url, authority: this.authority.certificate }, user, identity);
  }
}

/** Starts a control plane, and returns when it serves and pods can be created. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const folder = await makeClusterFolder();
  let services: ServiceRange | undefined;
  let plane: ControlPlane | undefined;
  try {
    services = await holdServiceRange();
    const authority = new CertificateAuthority(folder.file('pki'));
    await authority.create();
    plane = new ControlPlane(folder, authority, await makeLayout(folder, authority, services), options);
    await plane.start();
    return plane;
  } catch (error) {
    await (plane?.stop() ?? Promise.all([services?.release(), folder.remove()]));
    throw error;
  }
}

async function makeLayout(
  folder: ClusterFolder,
  authority: CertificateAuthority,
  services: ServiceRange,
): Promise<Layout> {
  const [etcd = 0, etcdPeer = 0, apiServer = 0, controllerManager = 0, scheduler = 0] = await loopbackPorts(5);
  const etcdData = folder.file('etcd');
  mkdirSync(etcdData, { mode: 0o700 });
  const serviceNames = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
  ];
  const names = [...['localhost', ...serviceNames].map((name) => `DNS:${name}`), 'IP:127.0.0.1'];
  return {
    ports: { etcd, etcdPeer, apiServer, controllerManager, scheduler },
    etcdData,
    authority,
    server: await authority.issue('server', {
      user: 'kube-apiserver',
      names: [...names, `IP:${services.first}`],
    }),
    kubeletClient: await authority.issue('kubelet-client', {
      user: 'kube-apiserver-kubelet-client',
      group: 'system:masters',
    }),
    frontProxy: { user: frontProxyUser, ...(await authority.issue('front-proxy', { user: frontProxyUser })) },
    serviceAccounts: await authority.keyPair('service-accounts'),
    services,
    auditPolicy: folder.file('audit-policy.json'),
    auditLog: folder.file('audit.log'),
    controllerManagerKubeconfig: folder.file('controller-manager.kubeconfig'),
    schedulerKubeconfig: folder.file('scheduler.kubeconfig'),
  };
}
