import type { Container, EphemeralContainer, PodSpec, Volume } from '../gen/kubernetes/types.ts';
import type { DataObjectKind } from './standalone-object.ts';

/** A ConfigMap or Secret of the pod's own namespace that its spec names, with its reader. */
interface NamedObject {
  readonly kind: DataObjectKind;
  readonly name: string;
  /**
   * `agent` where the values go into the environment, into files or into the pull of an image; `driver` where a storage
   * driver logs in with them.
   */
  readonly reader: 'agent' | 'driver';
}

/** Every ConfigMap and Secret that a pod names, in the order of the spec and as often as it does. */
export function namedObjects(spec: PodSpec): readonly NamedObject[] {
  const containers = [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])];
  return [
    ...(spec.imagePullSecrets ?? []).flatMap(({ name }) => named('Secret', name)),
    ...containers.flatMap(inEnvironment),
    ...(spec.volumes ?? []).flatMap((volume) => [...inFiles(volume), ...inDriver(volume)]),
  ];
}

function inEnvironment({ env = [], envFrom = [] }: Container | EphemeralContainer): readonly NamedObject[] {
  return [
    ...envFrom.flatMap(({ configMapRef, secretRef }) => [
      ...named('ConfigMap', configMapRef?.name),
      ...named('Secret', secretRef?.name),
    ]),
    ...env.flatMap(({ valueFrom }) => [
      ...named('ConfigMap', valueFrom?.configMapKeyRef?.name),
      ...named('Secret', valueFrom?.secretKeyRef?.name),
    ]),
  ];
}

function inFiles({ configMap, secret, projected }: Volume): readonly NamedObject[] {
  return [
    ...named('ConfigMap', configMap?.name),
    ...named('Secret', secret?.secretName),
    ...(projected?.sources ?? []).flatMap((source) => [
      ...named('ConfigMap', source.configMap?.name),
      ...named('Secret', source.secret?.name),
    ]),
  ];
}

function inDriver(volume: Volume): readonly NamedObject[] {
  const names = [
    volume.azureFile?.secretName,
    volume.cephfs?.secretRef?.name,
    volume.cinder?.secretRef?.name,
    volume.flexVolume?.secretRef?.name,
    volume.rbd?.secretRef?.name,
    volume.scaleIO?.secretRef.name,
    volume.iscsi?.secretRef?.name,
    volume.storageos?.secretRef?.name,
    volume.csi?.nodePublishSecretRef?.name,
  ];
  return names.flatMap((name) => named('Secret', name, 'driver'));
}

function named(
  kind: DataObjectKind,
  name: string | undefined,
  reader: NamedObject['reader'] = 'agent',
): readonly NamedObject[] {
  return name === undefined || name === '' ? [] : [{ kind, name, reader }];
}
