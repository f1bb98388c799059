import { ownValue } from '../base/own-value.ts';

/** Drivers that took over kinds that kubelets once mounted by themselves. */
const drivers: Readonly<Record<string, string>> = {
  awsElasticBlockStore: 'ebs.csi.aws.com',
  azureDisk: 'disk.csi.azure.com',
  azureFile: 'file.csi.azure.com',
  cinder: 'cinder.csi.openstack.org',
  gcePersistentDisk: 'pd.csi.storage.gke.io',
  portworxVolume: 'pxd.portworx.com',
  vsphereVolume: 'csi.vsphere.vmware.com',
};

/** The others that a driver could serve. */
const storageKinds: ReadonlySet<string> = new Set([
  ...Object.keys(drivers),
  'cephfs',
  'fc',
  'flexVolume',
  'flocker',
  'glusterfs',
  'iscsi',
  'photonPersistentDisk',
  'quobyte',
  'rbd',
  'scaleIO',
  'storageos',
]);

/** Why the agent does not mount this kind of volume, and what to use instead. */
export function refusedKind(name: string, kind: string): string {
  if (kind === 'gitRepo') {
    return (
      `volume "${name}" is a gitRepo, which is refused by design: it ran git of the node on what others wrote. ` +
      'Use an emptyDir and an init container that clones the repository'
    );
  }
  const refusal = `volume "${name}" is of a kind that this version cannot mount: ${kind}`;
  if (!storageKinds.has(kind)) return refusal;
  const driver = ownValue(drivers, kind);
  const way = driver === undefined ? 'a CSI driver' : `the CSI driver ${driver}`;
  return `${refusal}. Use ${way}, through a PersistentVolume with a csi source`;
}

/** Without an API server claims cannot be resolved. */
export function refusedClaim(name: string): string {
  return (
    `volume "${name}" is a claim to a PersistentVolume, and this node is part of no cluster that could have one. ` +
    'Use a hostPath, or give the agent a kubeconfig'
  );
}
