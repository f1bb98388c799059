export { HttpApiClient, type HttpApiClientDeps } from './api-client.ts';
export { ApiError, isExpired } from './api-error.ts';
export type { AnswerSeen, RequestsSeen } from './api-requests.ts';
export { clientMetrics, type ClientMetrics } from './client-metrics.ts';
export { accessFiles, type AccessFiles } from './credentials/access-files.ts';
export { connectApiServer, type ApiConnection, type ConnectDeps } from './connect.ts';
export type { ApiServerAccess, ExecPlugin, KeySource, PemSource, UserAccess } from './kubeconfig/access.ts';
export { loadKubeconfig } from './kubeconfig/load-kubeconfig.ts';
export { parseKubeconfig, type KubeconfigOptions } from './kubeconfig/parse-kubeconfig.ts';
export { withoutManagedFields } from './mirror-store.ts';
export type {
  ApiTransport,
  ApiWatcher,
  Credentials,
  TlsMaterial,
  TlsSource,
  TransportAnswer,
  TransportRequest,
  WatchEvent,
  WatchRequest,
} from './ports.ts';
export type { RateLimits } from './rate-limit.ts';
export { tracedTransport } from './traced-transport.ts';
export { Reflector, type MirrorListener, type ReflectorDeps } from './reflector.ts';
export { createCertificate, createCsr, type CertificateRequest, type CsrRequest } from './x509/certificate.ts';
export { createKey, keyToPem } from './x509/keys.ts';
export type { X509AlternativeNames, X509Subject } from './x509/names.ts';
