import { nodeAddresses, type Settings } from '../../../config/index.ts';
import type { AdmissionNodeSettings, NodeReportSettings, NodeSettings } from '../../../node/index.ts';
import { configuredReservations, reservedByEviction } from './cgroup-settings.ts';

/** The configuration of this node. */
export function nodeSettings(
  settings: Settings,
  node: { readonly nodeName: string; readonly architecture: string },
): NodeSettings & NodeReportSettings {
  const { config, flags, featureGates } = settings;
  return {
    nodeName: node.nodeName,
    nodeIps: nodeAddresses(flags.nodeIp),
    externalCloudProvider: flags.cloudProvider === 'external',
    operatingSystem: 'linux',
    architecture: node.architecture,
    kubeletVersion: settings.version,
    port: config.port,
    maxPods: config.maxPods,
    podsPerCore: config.podsPerCore,
    reserved: configuredReservations(settings),
    evictionHard: reservedByEviction(settings),
    localStorageCapacityIsolation: config.localStorageCapacityIsolation ?? true,
    maxImages: config.nodeStatusMaxImages ?? 50,
    labels: flags.nodeLabels,
    taints: config.registerWithTaints.map(({ timeAdded, ...taint }) => ({ ...taint, ...(timeAdded && { timeAdded }) })),
    providerId: config.providerID,
    controllerAttachDetach: config.enableControllerAttachDetach ?? true,
    statusUpdateMs: config.nodeStatusUpdateFrequency.toMillis(),
    statusReportMs: config.nodeStatusReportFrequency.toMillis(),
    leaseDurationSeconds: config.nodeLeaseDurationSeconds,
    registerNode: config.registerNode ?? true,
    podCidr: config.podCIDR,
    announcesHandlers:
      featureGates.all['RecursiveReadOnlyMounts'] === true || featureGates.all['UserNamespacesSupport'] === true,
  };
}

/** The configuration of the admission of pods on this node. */
export function admissionNodeSettings({ config, featureGates }: Settings, nodeName: string): AdmissionNodeSettings {
  return {
    nodeName,
    allowedUnsafeSysctls: config.allowedUnsafeSysctls,
    featureGates: (name) => featureGates.all[name] ?? false,
  };
}
