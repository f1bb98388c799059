import type { KeyPair } from './certificates.ts';
import type { ServiceRange } from './service-range.ts';

const loopback = '127.0.0.1';

/** What a caller may choose. */
export interface ControlPlaneOptions {
  /** How long certificates live that the controller manager signs, as a Go duration: `10m`. */
  readonly signingDuration?: string;
  /** Each node gets a /24 of it as its podCIDR; none does without. */
  readonly podCidr?: string;
  /** The API server believes only serving certificates of the cluster's own authority. */
  readonly verifyKubelets?: boolean;
  /** Nodes' requests are written down unless this is false. */
  readonly audit?: boolean;
  readonly apiServerFlags?: readonly string[];
  readonly controllerManagerFlags?: readonly string[];
  readonly schedulerFlags?: readonly string[];
}

/** Ports, files and identities of one control plane. */
export interface Layout {
  readonly ports: {
    readonly etcd: number;
    readonly etcdPeer: number;
    readonly apiServer: number;
    readonly controllerManager: number;
    readonly scheduler: number;
  };
  readonly etcdData: string;
  readonly authority: KeyPair;
  /** For everything that listens. */
  readonly server: KeyPair;
  readonly kubeletClient: KeyPair;
  /** By which API servers behind this one know it. */
  readonly frontProxy: KeyPair & { readonly user: string };
  readonly serviceAccounts: { readonly privateKey: string; readonly publicKey: string };
  readonly services: ServiceRange;
  readonly auditPolicy: string;
  readonly auditLog: string;
  readonly controllerManagerKubeconfig: string;
  readonly schedulerKubeconfig: string;
}

export function etcdFlags({ ports, etcdData }: Layout): readonly string[] {
  const [client, peer] = [`http://${loopback}:${ports.etcd}`, `http://${loopback}:${ports.etcdPeer}`];
  return [
    '--name=default',
    `--data-dir=${etcdData}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--logger=zap',
    '--log-level=warn',
  ];
}

export function apiServerFlags(layout: Layout, options: ControlPlaneOptions): readonly string[] {
  const { ports, authority, server, kubeletClient, serviceAccounts } = layout;
  return [
    `--etcd-servers=http://${loopback}:${ports.etcd}`,
    ...serving(ports.apiServer, server),
    // Endpoints must not hold a loopback address, so nobody writes those of the API server's own service.
    `--advertise-address=${loopback}`,
    '--endpoint-reconciler-type=none',
    `--client-ca-file=${authority.certificate}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--enable-bootstrap-token-auth=true',
    '--allow-privileged=true',
    `--kubelet-client-certificate=${kubeletClient.certificate}`,
    `--kubelet-client-key=${kubeletClient.key}`,
    '--kubelet-preferred-address-types=InternalIP,Hostname',
    ...(options.verifyKubelets === true ? [`--kubelet-certificate-authority=${authority.certificate}`] : []),
    ...aggregation(layout),
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${serviceAccounts.publicKey}`,
    `--service-account-signing-key-file=${serviceAccounts.privateKey}`,
    `--service-cluster-ip-range=${layout.services.cidr}`,
    ...(options.audit === false
      ? []
      : [
          `--audit-policy-file=${layout.auditPolicy}`,
          `--audit-log-path=${layout.auditLog}`,
          // In megabytes: one file, however long the run.
          '--audit-log-maxsize=10000',
        ]),
    ...(options.apiServerFlags ?? []),
  ];
}

/** Others serve parts of the API behind this one, at the addresses of endpoints: nobody carries those of services here. */
function aggregation({ authority, frontProxy }: Layout): readonly string[] {
  return [
    `--requestheader-client-ca-file=${authority.certificate}`,
    // The authority signs everybody, so only this name may speak for others.
    `--requestheader-allowed-names=${frontProxy.user}`,
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${frontProxy.certificate}`,
    `--proxy-client-key-file=${frontProxy.key}`,
    '--enable-aggregator-routing=true',
  ];
}

export function controllerManagerFlags(layout: Layout, options: ControlPlaneOptions): readonly string[] {
  const { ports, authority, server, serviceAccounts } = layout;
  return [
    ...serving(ports.controllerManager, server),
    ...clientOf(layout.controllerManagerKubeconfig),
    '--controllers=*,bootstrap-signer-controller,token-cleaner-controller',
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${serviceAccounts.privateKey}`,
    `--root-ca-file=${authority.certificate}`,
    `--cluster-signing-cert-file=${authority.certificate}`,
    `--cluster-signing-key-file=${authority.key}`,
    `--service-cluster-ip-range=${layout.services.cidr}`,
    ...(options.signingDuration === undefined ? [] : [`--cluster-signing-duration=${options.signingDuration}`]),
    ...(options.podCidr === undefined ? [] : ['--allocate-node-cidrs=true', `--cluster-cidr=${options.podCidr}`]),
    ...(options.controllerManagerFlags ?? []),
  ];
}

export function schedulerFlags(layout: Layout, options: ControlPlaneOptions): readonly string[] {
  return [
    ...serving(layout.ports.scheduler, layout.server),
    ...clientOf(layout.schedulerKubeconfig),
    ...(options.schedulerFlags ?? []),
  ];
}

function serving(port: number, { certificate, key }: KeyPair): readonly string[] {
  return [
    `--bind-address=${loopback}`,
    `--secure-port=${port}`,
    `--tls-cert-file=${certificate}`,
    `--tls-private-key-file=${key}`,
    '--profiling=false',
  ];
}

function clientOf(kubeconfig: string): readonly string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    // There is one of each; an election would only make restarts slow.
    '--leader-elect=false',
  ];
}
