// The gRPC library, loaded with the first call. A separate module, because the package is CommonJS: imported at run
// time, it has no export but `default` in the bundle.
export { Client, connectivityState, credentials, Metadata } from '@grpc/grpc-js';
