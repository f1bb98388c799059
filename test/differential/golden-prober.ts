import type { Clock } from '../../src/base/clock.ts';
import { goQuote } from '../../src/model/go-text.ts';
import { createProber, type Prober, type ProbeTarget } from '../../src/pods/probes/index.ts';
import { httpProbeRequest } from '../../src/pods/probes/probers/http-request.ts';
import { dialFailure } from '../../src/model/network-text.ts';
import type { FakeCri } from '../../src/testing/fake-cri/index.ts';
import type { Script } from './programs.ts';

interface GoldenProberDeps {
  readonly clock: Clock;
  readonly cri: FakeCri;
  readonly script: Script;
}

/** Probes as the agent carries them out, but that a fake container has no network: its server answers by the script. */
export function goldenProber({ clock, cri, script }: GoldenProberDeps): Prober {
  const real = createProber({ clock, runtime: cri });
  return async (target, signal) => {
    if (target.probe.httpGet === undefined) return real(target, signal);
    if (script.serves(target.container.name, ranMs(clock, cri, target.containerId))) {
      return { kind: 'success', output: '' };
    }
    return { kind: 'failure', output: refused(target) };
  };
}

function ranMs(clock: Clock, cri: FakeCri, containerId: string): number {
  return clock.now() - Number(cri.state.container(containerId).startedAt / 1_000_000n);
}

/** What dialling a port says on which nobody listens. */
function refused({ probe, container, podIp = '' }: ProbeTarget): string {
  const request = httpProbeRequest(probe.httpGet ?? { port: 0 }, container, podIp);
  if ('error' in request) return request.error;
  const { url, hostname, port } = request.hop;
  const error = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  return `Get ${goQuote(url)}: ${dialFailure(hostname, port, error)}`;
}
