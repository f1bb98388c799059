/** Where objects of one kind live in the API, and what they are called. */
export interface ApiResource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

const resource = (groupVersion: string, plural: string, kind: string, namespaced: boolean): ApiResource => {
  const [group = '', version = ''] = groupVersion.includes('/') ? groupVersion.split('/') : ['', groupVersion];
  return Object.freeze({ group, version, plural, kind, namespaced });
};

/** Everything the agent reads or writes, by the Node authoriser's leave. */
export const apiResources = {
  pods: resource('v1', 'pods', 'Pod', true),
  nodes: resource('v1', 'nodes', 'Node', false),
  events: resource('v1', 'events', 'Event', true),
  services: resource('v1', 'services', 'Service', true),
  secrets: resource('v1', 'secrets', 'Secret', true),
  configMaps: resource('v1', 'configmaps', 'ConfigMap', true),
  serviceAccounts: resource('v1', 'serviceaccounts', 'ServiceAccount', true),
  persistentVolumes: resource('v1', 'persistentvolumes', 'PersistentVolume', false),
  persistentVolumeClaims: resource('v1', 'persistentvolumeclaims', 'PersistentVolumeClaim', true),
  leases: resource('coordination.k8s.io/v1', 'leases', 'Lease', true),
  csiNodes: resource('storage.k8s.io/v1', 'csinodes', 'CSINode', false),
  csiDrivers: resource('storage.k8s.io/v1', 'csidrivers', 'CSIDriver', false),
  volumeAttachments: resource('storage.k8s.io/v1', 'volumeattachments', 'VolumeAttachment', false),
  runtimeClasses: resource('node.k8s.io/v1', 'runtimeclasses', 'RuntimeClass', false),
  certificateSigningRequests: resource(
    'certificates.k8s.io/v1',
    'certificatesigningrequests',
    'CertificateSigningRequest',
    false,
  ),
  clusterTrustBundles: resource('certificates.k8s.io/v1beta1', 'clustertrustbundles', 'ClusterTrustBundle', false),
  tokenReviews: resource('authentication.k8s.io/v1', 'tokenreviews', 'TokenReview', false),
  subjectAccessReviews: resource('authorization.k8s.io/v1', 'subjectaccessreviews', 'SubjectAccessReview', false),
} as const satisfies Record<string, ApiResource>;

/** `v1` or `group/version`, as objects carry it. */
export function apiVersionOf({ group, version }: ApiResource): string {
  return group === '' ? version : `${group}/${version}`;
}
