export { makeAuthentication } from './authenticators.ts';
export { makeAuthorizer } from './authorizers.ts';
export { ClientCertificates } from './client-certificates.ts';
export type { AuthorityFiles, ReviewApi } from './ports.ts';
