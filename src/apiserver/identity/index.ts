export { readBootstrapAccess, type BootstrapDeps } from './bootstrap-client.ts';
export { CertificateStore } from './certificate-store.ts';
export { ClientCertificateManager } from './client-certificate-manager.ts';
export { prepareClientIdentity, type ClientIdentityOptions } from './client-identity.ts';
export { hostCertificateFiles } from './host-certificate-files.ts';
export type { CertificateFiles, CsrConnection } from './ports.ts';
export { selfSignedPaths } from './self-signed.ts';
export type { ServingCertificates } from './serving-certificate.ts';
export { servingCertificates } from './serving-certificates.ts';
