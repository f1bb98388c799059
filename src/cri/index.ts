export { connectCri } from './connect.ts';
export { criOver, type Cri, type CriTransport } from './cri.ts';
export type { CriTimeouts } from './deadline.ts';
export { handshake, type RuntimeVersion } from './handshake.ts';
export type { Invoke } from './invoke.ts';
export type { ObserveCall } from './observation.ts';
export { operationTypes, type UnaryVerb } from './verbs.ts';
