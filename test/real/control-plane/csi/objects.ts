import { idle, podOf, shell } from '../../../support/real-pods.ts';

type Fields = Readonly<Record<string, unknown>>;

export const mebibyte = 1n << 20n;

/** What the cluster knows of a driver. */
export function driverObject(name: string, spec: Fields): object {
  return { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name }, spec };
}

/** Without one, claims cannot grow. Nobody provisions: volumes and claims name each other. */
export function storageClass(name: string, provisioner: string): object {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name },
    provisioner,
    allowVolumeExpansion: true,
    reclaimPolicy: 'Retain',
  };
}

interface ClaimedVolumePlan {
  readonly name: string;
  readonly namespace: string;
  readonly driver: string;
  readonly handle: string;
  readonly bytes: bigint;
  readonly block?: boolean;
  readonly nodeLabel: Readonly<Record<string, string>>;
}

/** A volume that is there already, and the claim that it is for. */
export function claimedVolume(plan: ClaimedVolumePlan): readonly object[] {
  const { name, namespace, driver, handle } = plan;
  const storage = quantity(plan.bytes);
  const common = {
    accessModes: ['ReadWriteOnce'],
    storageClassName: driver,
    volumeMode: plan.block === true ? 'Block' : 'Filesystem',
  };
  const expressions = Object.entries(plan.nodeLabel).map(([key, value]) => ({ key, operator: 'In', values: [value] }));
  const volumeName = volumeNameOf(plan);
  return [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: volumeName },
      spec: {
        ...common,
        capacity: { storage },
        persistentVolumeReclaimPolicy: 'Retain',
        claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: expressions }] } },
        csi: {
          driver,
          volumeHandle: handle,
          volumeAttributes: { made: 'by-hand' },
          ...(plan.block !== true && { fsType: 'ext4' }),
        },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace },
      spec: { ...common, volumeName, resources: { requests: { storage } } },
    },
  ];
}

export const volumeNameOf = ({ namespace, name }: { readonly namespace: string; readonly name: string }): string =>
  `${namespace}-${name}`;

export function quantity(bytes: bigint): string {
  return `${bytes / mebibyte}Mi`;
}

export interface PodPlan {
  readonly name: string;
  readonly image: string;
  /** By the folder or device that the container has of it. */
  readonly claims?: Readonly<Record<string, string>>;
  readonly devices?: Readonly<Record<string, string>>;
  /** Drivers of inline volumes. */
  readonly inline?: Readonly<Record<string, string>>;
  readonly spec?: Fields;
}

/** A pod that has volumes and waits. */
export function csiPod({ name, image, claims = {}, devices = {}, inline = {}, spec = {} }: PodPlan): object {
  const volumeOf = (path: string): string => path.replaceAll('/', '-').slice(1);
  const claimed = Object.entries({ ...claims, ...devices }).map(([path, claimName]) => ({
    name: volumeOf(path),
    persistentVolumeClaim: { claimName },
  }));
  const own = Object.entries(inline).map(([path, driver]) => ({ name: volumeOf(path), csi: { driver } }));
  return podOf(
    name,
    {
      terminationGracePeriodSeconds: 1,
      volumes: [...claimed, ...own],
      containers: [
        shell('main', image, idle, {
          volumeMounts: Object.keys({ ...claims, ...inline }).map((path) => ({
            name: volumeOf(path),
            mountPath: path,
          })),
          volumeDevices: Object.keys(devices).map((path) => ({ name: volumeOf(path), devicePath: path })),
        }),
      ],
      ...spec,
    },
    { namespace: undefined },
  );
}
