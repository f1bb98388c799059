import { TubeletError } from '../../src/base/errors.ts';
import type { Container } from '../../src/gen/kubernetes/types.ts';
import type { Prober, ProbeOutcome, ProbeTarget } from '../../src/pods/probes/index.ts';
import type { HookRequests } from '../../src/pods/runtime/index.ts';
import type { HealthService } from './stage.ts';

const firstFailure = 400;

/** Who answers at an address of a pod. */
export interface FakeListeners {
  /** The status that a GET gets; nothing where nobody listens. */
  get(address: string, port: number, target: string, userAgent: string): number | undefined;
  listens(address: string, port: number): boolean;
  readonly health: HealthService & { readonly asked: Set<string> };
}

/** Probes as the agent carries them out, but that fake containers have no sockets. */
export function fakeProber(real: Prober, listeners: FakeListeners): Prober {
  return async (target, signal) => {
    const { httpGet, tcpSocket, grpc } = target.probe;
    if (httpGet !== undefined) return askHttp(target, listeners);
    if (tcpSocket !== undefined) return askTcp(target, listeners);
    if (grpc === undefined) return real(target, signal);
    const { health } = listeners;
    if (grpc.port !== health.port) return { kind: 'failure', output: `nobody serves gRPC at ${grpc.port}` };
    health.asked.add(grpc.service ?? '');
    if (health.serving) return { kind: 'success', output: 'service healthy' };
    return { kind: 'failure', output: 'service unhealthy (responded with "NOT_SERVING")' };
  };
}

function askHttp({ probe, container, podIp = '' }: ProbeTarget, listeners: FakeListeners): ProbeOutcome {
  const { port: wanted = 0, path = '/' } = probe.httpGet ?? {};
  const port = portOf(wanted, container);
  const status = listeners.get(podIp, port, path, 'kube-probe/1.34');
  if (status === undefined) {
    return { kind: 'failure', output: `Get "http://${podIp}:${port}${path}": ${refusal(podIp, port)}` };
  }
  if (status < firstFailure) return { kind: 'success', output: '' };
  return { kind: 'failure', output: `HTTP probe failed with statuscode: ${status}` };
}

function askTcp({ probe, container, podIp = '' }: ProbeTarget, listeners: FakeListeners): ProbeOutcome {
  const port = portOf(probe.tcpSocket?.port ?? 0, container);
  if (listeners.listens(podIp, port)) return { kind: 'success', output: '' };
  return { kind: 'failure', output: refusal(podIp, port) };
}

export function fakeHookRequests(listeners: FakeListeners): HookRequests {
  return {
    async send({ url, headers }) {
      const { hostname, port, pathname, search } = new URL(url);
      const userAgent = headers.find(([name]) => name === 'User-Agent')?.[1] ?? '';
      const status = listeners.get(hostname, Number(port), pathname + search, userAgent);
      if (status === undefined) throw new TubeletError('unavailable', refusal(hostname, Number(port)));
      return { status };
    },
  };
}

function portOf(port: number | string, container: Container): number {
  return typeof port === 'number' ? port : (container.ports?.find(({ name }) => name === port)?.containerPort ?? 0);
}

const refusal = (address: string, port: number): string => `dial tcp ${address}:${port}: connect: connection refused`;
