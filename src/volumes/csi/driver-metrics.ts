import type { Metrics } from '../../base/metrics.ts';

/** Records one call; the code is `OK` for success. */
export type RecordDriverCall = (driver: string, method: string, code: string, seconds: number) => void;

const buckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

export function driverMetrics(metrics: Metrics): RecordDriverCall {
  const seconds = metrics.histogram({
    name: 'csi_operations_seconds',
    help: 'Seconds that calls of storage drivers took, with the code of their answers.',
    stability: 'ALPHA',
    labels: ['driver_name', 'method_name', 'grpc_status_code', 'migrated'],
    buckets,
  });
  return (driver, method, code, took) =>
    seconds.observe(took, {
      driver_name: driver,
      method_name: method,
      grpc_status_code: code,
      // This agent migrates no in-tree volume to a driver.
      migrated: 'false',
    });
}
