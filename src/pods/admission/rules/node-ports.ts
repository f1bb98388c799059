import type { PodSpec } from '../../../gen/kubernetes/types.ts';
import { sidecarsOf } from '../../../model/containers.ts';
import type { DesiredPod } from '../../../model/desired-pod.ts';
import { podReasons } from '../../../model/reasons.ts';
import { admissionMessages, predicateFailed } from '../messages.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

interface HostPort {
  readonly address: string;
  readonly protocol: string;
  readonly port: number;
}

const everyAddress = '0.0.0.0';

/** A port of the node can be used once per protocol and address. */
export function nodePorts({ pod, active }: AdmissionInput): PodAdmitResult {
  const requested = hostPorts(pod.spec);
  if (requested.length === 0) return admitted;
  const conflicts = (other: DesiredPod): boolean =>
    hostPorts(other.spec).some((taken) => requested.some((port) => conflict(port, taken)));
  if (!active.some(conflicts)) return admitted;
  return rejected(podReasons.nodePorts, predicateFailed(podReasons.nodePorts, admissionMessages.nodePorts));
}

/** Specs never change, and every new pod is compared with all others: the ports of each spec are collected once. */
const found = new WeakMap<PodSpec, readonly HostPort[]>();

function hostPorts(spec: PodSpec): readonly HostPort[] {
  const known = found.get(spec);
  if (known !== undefined) return known;
  const ports = findHostPorts(spec);
  found.set(spec, ports);
  return ports;
}

/** Plain init containers have ended before the pod serves anything, so only sidecars and regular ones hold ports. */
function findHostPorts(spec: PodSpec): readonly HostPort[] {
  return [...spec.containers, ...sidecarsOf(spec)]
    .flatMap((container) => container.ports ?? [])
    .filter(({ hostPort = 0 }) => hostPort > 0)
    .map(({ hostIP, hostPort = 0, protocol }) => ({
      address: hostIP || everyAddress,
      protocol: protocol || 'TCP',
      port: hostPort,
    }));
}

function conflict(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol) return false;
  return a.address === b.address || a.address === everyAddress || b.address === everyAddress;
}
