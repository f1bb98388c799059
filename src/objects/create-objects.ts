import type { CommonPorts } from '../model/common-ports.ts';
import type { Component } from '../base/component.ts';
import type { ClusterTrustBundle } from '../gen/kubernetes/types.ts';
import type { PodRemoval } from '../model/pod-removal.ts';
import type { StandaloneObject } from '../model/standalone-object.ts';
import { ApiObjects } from './api-objects.ts';
import { objectCache } from './object-cache.ts';
import type { ObjectsApi, PodObjects, ResourceInbox } from './ports.ts';
import { StandaloneObjects } from './standalone-objects.ts';
import { PodTokens } from './tokens/pod-tokens.ts';
import { bundleWatch, refusedTrust, TrustBundles } from './trust/trust-bundles.ts';

export interface ObjectsSettings {
  /** configMapAndSecretChangeDetectionStrategy: `Get`, `Cache` or `Watch`. */
  readonly changeDetectionStrategy: string;
  /** The gate ClusterTrustBundleProjection. */
  readonly clusterTrustBundles: boolean;
}

interface ObjectsDeps {
  readonly ports: Omit<CommonPorts, 'metrics'>;
  readonly settings: ObjectsSettings;
  readonly inbox: ResourceInbox;
  readonly podRemoval: PodRemoval;
  /** Undefined on a node without an API server, whose objects are in the manifests folder. */
  readonly api: ObjectsApi | undefined;
}

export interface Objects {
  /** In the order in which they start; pods may be synced before. */
  readonly components: readonly Component[];
  /** The ConfigMaps and Secrets of the pods on this node. */
  readonly podObjects: PodObjects;
  /** Only an API server issues tokens of service accounts. */
  readonly tokens: Pick<PodTokens, 'get' | 'refreshInMs'> | undefined;
  /** Only an API server has trust bundles. */
  readonly trust: Pick<TrustBundles, 'anchors'> | undefined;
  /** Replaces the objects with the complete set of the manifests folder. */
  readonly setManifestObjects: (objects: readonly StandaloneObject[]) => void;
}

/** The objects that pods name: those of the API server, or without one those of the manifests folder. */
export function createObjects(deps: ObjectsDeps): Objects {
  const { ports, settings, inbox, podRemoval, api } = deps;
  const standalone = new StandaloneObjects({ log: ports.log, inbox });
  podRemoval.register('objects/manifest-readers', standalone);
  const setManifestObjects = (objects: readonly StandaloneObject[]): void => standalone.set(objects);
  if (api === undefined) {
    return { components: [], podObjects: standalone, tokens: undefined, trust: undefined, setManifestObjects };
  }
  const objects = new ApiObjects({
    clock: ports.clock,
    inbox,
    cache: objectCache(ports, settings.changeDetectionStrategy, api),
  });
  const tokens = new PodTokens({ ...ports, api: api.client });
  podRemoval.register('objects/api-objects', objects);
  podRemoval.register('objects/tokens', tokens);
  const { components, trust } = createTrust(deps, api);
  return {
    components: [...components, objects],
    podObjects: podObjectsOfApi(objects, tokens),
    tokens,
    trust,
    setManifestObjects,
  };
}

/** The certificates of authorities that the API server keeps, watched while pods use them. */
function createTrust(
  { ports, settings, inbox, podRemoval }: ObjectsDeps,
  { client, reflect }: ObjectsApi,
): Pick<Objects, 'components'> & { readonly trust: Pick<TrustBundles, 'anchors'> } {
  if (!settings.clusterTrustBundles) {
    return { components: [], trust: refusedTrust('the feature gate ClusterTrustBundleProjection is off') };
  }
  const trust = new TrustBundles({
    ...ports,
    api: client,
    inbox,
    watch: (resource, onChange) => bundleWatch(reflect<ClusterTrustBundle>(resource, { onChange })),
  });
  podRemoval.register('objects/trust-bundles', trust);
  return { components: [trust], trust };
}

/** The objects of pods for their syncs; requests the pod's tokens along with them. */
function podObjectsOfApi(objects: ApiObjects, tokens: Pick<PodTokens, 'prefetch'>): PodObjects {
  return {
    ready: (pod, signal) => {
      tokens.prefetch(pod, signal);
      return objects.ready(pod, signal);
    },
    configMap: (namespace, name) => objects.configMap(namespace, name),
    secret: (namespace, name) => objects.secret(namespace, name),
    problem: (kind, namespace, name) => objects.problem(kind, namespace, name),
  };
}
