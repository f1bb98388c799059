export { NodeLease, type NodeLeaseDeps } from './node-lease.ts';
