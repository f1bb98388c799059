import type { Component } from '../../base/component.ts';
import { createImages, type Images } from '../../images/create-images.ts';
import { createPlugins } from '../../plugins/create-plugins.ts';
import type { PodStores } from '../../pods/create-stores.ts';
import { createStorageDrivers, type StorageDrivers } from '../../volumes/create-storage-drivers.ts';
import { createVolumes, type Volumes } from '../../volumes/create-volumes.ts';
import { noDriverRecord } from '../../volumes/csi/index.ts';
import { noTokens, noTrust } from '../../volumes/index.ts';
import type { AgentNode } from './create-agent-node.ts';
import type { AgentObjects } from './create-agent-objects.ts';
import type { AgentContext } from './create-context.ts';
import type { Platform } from './platform.ts';
import { imageSettings } from './settings/image-settings.ts';
import { volumeSettings } from './settings/volume-settings.ts';

export interface AgentStorage {
  readonly drivers: StorageDrivers;
  readonly plugins: { readonly components: readonly Component[] };
  readonly images: Images;
  readonly volumes: Volumes;
}

interface StorageParts {
  readonly platform: Pick<Platform, 'process' | 'env'>;
  readonly stores: Pick<PodStores, 'starts'>;
  readonly node: AgentNode;
  readonly objects: AgentObjects;
}

/** Storage drivers, images and volumes. */
export function createAgentStorage(context: AgentContext, parts: StorageParts): AgentStorage {
  const { settings, facts, runtime, paths, api, events } = context;
  const { platform, stores, node, objects } = parts;
  const { ports, signals, host, cri } = facts;
  const { podRemoval, inbox, driverChanged, storageAnswers } = signals;
  const { kernel } = host;
  const { view, driverRecord } = node.views;
  const drivers = createStorageDrivers({
    ports,
    signals,
    open: host.plugins.open,
    record: driverRecord ?? noDriverRecord,
  });
  const plugins = createPlugins({
    ports,
    settings: { rootDir: settings.flags.rootDir },
    ...host.plugins,
    handlers: { CSIPlugin: drivers.handler },
  });
  const folders = { workingDir: platform.process.workingDir, homeDir: platform.env['HOME'] ?? '' };
  const images = createImages({
    ports,
    signals,
    settings: imageSettings(settings, folders),
    service: cri,
    events,
    secrets: objects.ofPods.lookup,
    ...host.images,
    providers: facts.imageProviders,
    pullWaits: stores.starts,
  });
  const volumes = createVolumes({
    ports,
    signals: { inbox, podRemoval, nodeStatusDue: signals.node.statusDue, driverChanged, storageAnswers },
    settings: volumeSettings(runtime, {
      tmpfsNoSwap: facts.prepared.tmpfsNoSwap,
      hasSeLinux: kernel.hasSelinux,
    }),
    machine: host.volumes,
    paths,
    node,
    objects: objects.ofPods.lookup,
    images: images.volumeImages,
    tokens: objects.tokens ?? noTokens,
    trust: objects.trust ?? noTrust,
    events,
    drivers: drivers.drivers,
    cluster: api && {
      api: api.client,
      node: api.mirrors.node,
      drivers: api.mirrors.drivers,
      claimEvents: { record: (about, event) => api.recorder.record({ about, ...event }) },
      nodeLabels: () => view.node()?.metadata?.labels,
    },
  });
  return { drivers, plugins, images, volumes };
}
