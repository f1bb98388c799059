import { withNodeInfo, withStatus, type Setter } from './setter.ts';

export const setDaemonEndpoints: Setter = (node, { settings }) => ({
  node: withStatus(node, { daemonEndpoints: { kubeletEndpoint: { Port: settings.port } } }),
});

export const setPlatform: Setter = (node, { settings: { operatingSystem, architecture } }) => ({
  node: withNodeInfo(node, { operatingSystem, architecture }),
});

/** The runtime handlers, sorted by name: the runtime itself lists them in any order. */
export const setRuntimeHandlers: Setter = (node, { handlers }) => {
  const runtimeHandlers = handlers
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, recursiveReadOnlyMounts, userNamespaces }) => ({
      name,
      features: { recursiveReadOnlyMounts, userNamespaces },
    }));
  if (runtimeHandlers.length > 0) return { node: withStatus(node, { runtimeHandlers }) };
  const { runtimeHandlers: _, ...status } = node.status ?? {};
  return { node: { ...node, status } };
};

export const setFeatures: Setter = (node, { features }) => ({
  node: features === undefined ? node : withStatus(node, { features }),
});

export const setVolumesInUse: Setter = (node, { volumesInUse }) => ({
  node: volumesInUse === undefined ? node : withStatus(node, { volumesInUse: volumesInUse.toSorted() }),
});
