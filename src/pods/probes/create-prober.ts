import type { Clock } from '../../base/clock.ts';
import { describePod } from '../../model/containers.ts';
import type { ExecRuntime, Prober } from './ports.ts';
import { execProber } from './probers/exec.ts';
import { grpcProber } from './probers/grpc.ts';
import { httpProber } from './probers/http-get.ts';
import { tcpProber } from './probers/tcp-socket.ts';

interface ProberDeps {
  readonly clock: Clock;
  readonly runtime: ExecRuntime;
}

/** An error says nothing about the container, so the probe is tried again before the next period. */
const maxTries = 3;

/** Carries out probes of all four kinds. */
export function createProber({ clock, runtime }: ProberDeps): Prober {
  const exec = execProber(runtime);
  const httpGet = httpProber(clock);
  const tcpSocket = tcpProber(clock);
  const grpc = grpcProber(clock);
  return withRetries(async (target, signal) => {
    const { probe, pod, container } = target;
    if (probe.exec !== undefined) return exec(target, signal);
    if (probe.httpGet !== undefined) return httpGet(target, signal);
    if (probe.tcpSocket !== undefined) return tcpSocket(target, signal);
    if (probe.grpc !== undefined) return grpc(target, signal);
    const error = `missing probe handler for ${describePod(pod)}:${container.name}`;
    return { kind: 'error', state: 'unknown', error };
  });
}

/** Tries again after an error, up to three times in all; any other outcome is final. */
export function withRetries(prober: Prober): Prober {
  return async (target, signal) => {
    for (let tries = 1; ; tries++) {
      const outcome = await prober(target, signal);
      signal.throwIfAborted();
      if (outcome.kind !== 'error' || tries >= maxTries) return outcome;
    }
  };
}
