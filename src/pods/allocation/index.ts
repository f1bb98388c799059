export { Allocations } from './allocations.ts';
