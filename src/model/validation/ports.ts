import type { Container, ContainerPort } from '../../gen/kubernetes/types.ts';
import type { Faults } from './faults.ts';
import type { FieldPath } from './field-path.ts';
import { portName, portNumber } from './names.ts';

export function validatePorts(ports: readonly ContainerPort[], path: FieldPath, faults: Faults): void {
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const at = [...path, index];
    if (port.name !== undefined && port.name !== '') {
      faults.check([...at, 'name'], port.name, portName);
      if (names.has(port.name)) faults.duplicate([...at, 'name'], port.name);
      names.add(port.name);
    }
    if (port.containerPort === 0) faults.required([...at, 'containerPort']);
    else checkNumber([...at, 'containerPort'], port.containerPort, faults);
    if (port.hostPort !== undefined && port.hostPort !== 0) checkNumber([...at, 'hostPort'], port.hostPort, faults);
    faults.oneOf([...at, 'protocol'], port.protocol, ['SCTP', 'TCP', 'UDP']);
  }
}

/** Two containers that run at the same time cannot listen on the same port of the host. */
export function validateHostPorts(
  containers: readonly (readonly [Container, FieldPath])[],
  hostNetwork: boolean,
  faults: Faults,
): void {
  const taken = new Set<string>();
  for (const [container, path] of containers) {
    for (const [index, port] of (container.ports ?? []).entries()) {
      const at = [...path, 'ports', index, 'hostPort'];
      if (hostNetwork && port.hostPort !== port.containerPort) {
        faults.invalid(at, port.hostPort, 'must match `containerPort` when `hostNetwork` is true');
      }
      if (port.hostPort === undefined || port.hostPort === 0) continue;
      const key = `${port.protocol ?? ''}/${port.hostIP ?? ''}/${port.hostPort}`;
      if (taken.has(key)) faults.duplicate(at, key);
      taken.add(key);
    }
  }
}

/** A port as probes and hooks name it: by number, or by the name of a container port. */
export function validatePortReference(port: number | string, path: FieldPath, faults: Faults): void {
  if (typeof port === 'number') checkNumber(path, port, faults);
  else faults.check(path, port, portName);
}

function checkNumber(path: FieldPath, value: number, faults: Faults): void {
  const wrong = portNumber(value);
  if (wrong !== undefined) faults.invalid(path, value, wrong);
}
