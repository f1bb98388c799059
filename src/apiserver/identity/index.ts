export { bootstrapClient, readBootstrapAccess, type BootstrapDeps, type BootstrapTarget } from './bootstrap-client.ts';
export { CertificateStore, type CertificateStoreDeps } from './certificate-store.ts';
export { ClientCertificateManager, type ClientCertificateManagerDeps } from './client-certificate-manager.ts';
export { prepareClientIdentity, type ClientIdentity, type ClientIdentityOptions } from './client-identity.ts';
export { hostCertificateFiles } from './host-certificate-files.ts';
export type { CertificateFiles, CsrApi, CsrConnection } from './ports.ts';
export type { RotationWindow } from './rotation-plan.ts';
export type { ServingCertificate, ServingCertificates, ServingListener } from './serving-certificate.ts';
export { servingCertificates, type ServingDeps, type ServingOptions } from './serving-certificates.ts';
