export { rpcError } from './rpc-error.ts';
export { unixChannels } from './unix-channel.ts';
