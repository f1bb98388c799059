export { NodeLease } from './node-lease.ts';
