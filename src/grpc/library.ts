// What of gRPC is loaded with the first call. A module of our own, because it is CommonJS: imported at run time, such a
// package has no names but `default` in the bundle.
export { Client, connectivityState, credentials, Metadata } from '@grpc/grpc-js';
