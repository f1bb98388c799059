import type { ProbeVerdict } from '../../pods/runtime/index.ts';

/** Stands where probe results will: without probes a running container is started and ready, and never unhealthy. */
export const noProbes = {
  liveness: (): ProbeVerdict => 'success',
  startup: (): ProbeVerdict => 'success',
  ready: (): boolean => true,
  started: (): boolean => true,
};
