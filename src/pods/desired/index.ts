export { DesiredPods } from './desired-pods.ts';
