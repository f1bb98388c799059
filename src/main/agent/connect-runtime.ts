import type { Clock } from '../../base/clock.ts';
import { isKind, TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import { handshake, type Cri, type RuntimeVersion } from '../../cri/index.ts';
import { CgroupDriver } from '../../gen/cri/api.ts';

interface ConnectRuntimeDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly cri: Cri;
  readonly signal: AbortSignal;
  readonly metrics?: Metrics;
}

const firstRetryMs = 250;
const lastRetryMs = 5_000;
const driverTries = 3;
const driverRetryMs = 2_000;

/** Waits until the runtime answers. An unavailable runtime is waited for; an incompatible one is an error. */
export async function waitForRuntime({ clock, log, cri, signal }: ConnectRuntimeDeps): Promise<RuntimeVersion> {
  for (let waitMs = firstRetryMs; ; waitMs = Math.min(waitMs * 2, lastRetryMs)) {
    try {
      const version = await handshake(cri, { signal });
      log.info('Container runtime initialized', {
        containerRuntime: version.name,
        version: version.version,
        apiVersion: version.apiVersion,
      });
      return version;
    } catch (error) {
      signal.throwIfAborted();
      if (!isKind(error, 'unavailable', 'timeout')) throw error;
      log.error(error, 'Waiting for the container runtime', { endpoint: cri.endpoint, retryMs: waitMs });
      await clock.sleep(waitMs, signal);
    }
  }
}

/** A runtime's own report of its cgroup driver takes precedence over the configuration; an old runtime reports none. */
export async function cgroupDriverOf(
  { clock, log, cri, signal, metrics }: ConnectRuntimeDeps,
  configured: 'cgroupfs' | 'systemd',
): Promise<'cgroupfs' | 'systemd'> {
  for (let tries = 1; ; tries++) {
    try {
      const { linux } = await cri.runtimeConfig({}, { signal });
      if (linux === undefined) return configured;
      const cgroupDriver = driverNamed(linux.cgroupDriver);
      log.info('Using cgroup driver setting received from the CRI runtime', { cgroupDriver });
      return cgroupDriver;
    } catch (error) {
      signal.throwIfAborted();
      if (isKind(error, 'unsupported')) {
        announceLosingSupport(metrics);
        log.info(fallBack, { cgroupDriver: configured });
        return configured;
      }
      if (tries === driverTries || isKind(error, 'invalid')) throw error;
      await clock.sleep(driverRetryMs, signal);
    }
  }
}

const fallBack =
  'CRI implementation should be updated to support RuntimeConfig. Falling back to using cgroupDriver from kubelet config.';

function driverNamed(driver: CgroupDriver): 'cgroupfs' | 'systemd' {
  if (driver === CgroupDriver.SYSTEMD) return 'systemd';
  if (driver === CgroupDriver.CGROUPFS) return 'cgroupfs';
  throw new TubeletError('invalid', `runtime returned an unknown cgroup driver ${Number(driver)}`);
}

/** The first release that requires the runtime to report its cgroup driver. */
const lastRelease = '1.38.0';

/** Reports in a metric that a later kubelet will not support this runtime. */
function announceLosingSupport(metrics: Metrics | undefined): void {
  const gauge = metrics?.gauge({
    name: 'kubelet_cri_losing_support',
    help: 'The runtime does not report its cgroup driver; from this version on it must.',
    stability: 'ALPHA',
    labels: ['version'],
  });
  gauge?.set(1, { version: lastRelease });
}
