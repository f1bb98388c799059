import type { Container, EphemeralContainer, Volume, VolumeMount } from '../../gen/kubernetes/types.ts';
import type { Faults } from './faults.ts';
import type { FieldPath } from './field-path.ts';
import { descendingPath, noBacksteps } from './names.ts';

type AnyContainer = Container | EphemeralContainer;

export function validateMounts(
  container: AnyContainer,
  volumes: ReadonlyMap<string, Volume>,
  path: FieldPath,
  faults: Faults,
): void {
  const mounts = container.volumeMounts ?? [];
  const places = new Set<string>();
  for (const [index, mount] of mounts.entries()) {
    const at = [...path, 'volumeMounts', index];
    if (mount.name === '') faults.required([...at, 'name']);
    else if (!volumes.has(mount.name)) faults.notFound([...at, 'name'], mount.name);
    if (mount.mountPath === '') faults.required([...at, 'mountPath']);
    else if (places.has(mount.mountPath)) faults.invalid([...at, 'mountPath'], mount.mountPath, 'must be unique');
    places.add(mount.mountPath);
    validateSubPath(mount, volumes.get(mount.name), at, faults);
    validatePropagation(mount, container, at, faults);
  }
  validateDevices(container, volumes, path, faults);
}

function validateSubPath(mount: VolumeMount, volume: Volume | undefined, at: FieldPath, faults: Faults): void {
  for (const field of ['subPath', 'subPathExpr'] as const) {
    const value = mount[field];
    if (!value) continue;
    faults.check([...at, field], value, descendingPath);
    if (volume?.image !== undefined) faults.invalid([...at, field], value, 'not allowed in image volume sources');
  }
  if (mount.subPath && mount.subPathExpr) {
    faults.invalid([...at, 'subPathExpr'], mount.subPathExpr, 'subPathExpr and subPath are mutually exclusive');
  }
}

function validatePropagation(mount: VolumeMount, container: AnyContainer, at: FieldPath, faults: Faults): void {
  const { mountPropagation, recursiveReadOnly } = mount;
  faults.optionalOneOf([...at, 'mountPropagation'], mountPropagation, ['Bidirectional', 'HostToContainer', 'None']);
  if (mountPropagation === 'Bidirectional' && container.securityContext?.privileged !== true) {
    faults.forbidden([...at, 'mountPropagation'], 'Bidirectional is for privileged containers only');
  }
  faults.optionalOneOf([...at, 'recursiveReadOnly'], recursiveReadOnly, ['Disabled', 'Enabled', 'IfPossible']);
  if (recursiveReadOnly === undefined || recursiveReadOnly === 'Disabled') return;
  if (mount.readOnly !== true) faults.forbidden([...at, 'recursiveReadOnly'], 'needs readOnly to be true');
  if (mountPropagation !== undefined && mountPropagation !== 'None') {
    faults.forbidden([...at, 'recursiveReadOnly'], 'needs mountPropagation to be None or absent');
  }
}

/** Raw block devices come from claims only; a volume is either mounted or handed over as a device. */
function validateDevices(
  container: AnyContainer,
  volumes: ReadonlyMap<string, Volume>,
  path: FieldPath,
  faults: Faults,
): void {
  const mounted = new Set((container.volumeMounts ?? []).map((mount) => mount.name));
  const places = new Set((container.volumeMounts ?? []).map((mount) => mount.mountPath));
  const names = new Set<string>();
  for (const [index, device] of (container.volumeDevices ?? []).entries()) {
    const at = [...path, 'volumeDevices', index];
    const volume = volumes.get(device.name);
    if (device.name === '') faults.required([...at, 'name']);
    else if (volume === undefined) faults.notFound([...at, 'name'], device.name);
    else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) {
      faults.invalid([...at, 'name'], device.name, 'a block device needs a persistentVolumeClaim or ephemeral volume');
    }
    if (names.has(device.name) || mounted.has(device.name)) {
      faults.invalid([...at, 'name'], device.name, 'must be used once, as a mount or as a device');
    }
    names.add(device.name);
    if (device.devicePath === '') faults.required([...at, 'devicePath']);
    else if (places.has(device.devicePath)) faults.invalid([...at, 'devicePath'], device.devicePath, 'must be unique');
    else faults.check([...at, 'devicePath'], device.devicePath, noBacksteps);
    places.add(device.devicePath);
  }
}
