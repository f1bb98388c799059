export { FakeApiServer, type FakeApiServerDeps } from './fake-api-server.ts';
export { namespaces } from './kinds.ts';
export type { RequestFilter, SeenRequest } from './request-log.ts';
export { serveFakeApiServer, type ServedApiServer } from './serve.ts';
export type { StoreSnapshot } from './store.ts';
