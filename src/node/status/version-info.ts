import { withNodeInfo, type Setter } from './setter.ts';

/** Kernel, operating system, runtime and agent. */
export const setVersionInfo: Setter = (node, { settings, identity, runtimeVersion }) => {
  const runtime = runtimeVersion && `${runtimeVersion.name}://${runtimeVersion.version}`;
  const versions = withNodeInfo(node, {
    ...(runtime !== undefined && { containerRuntimeVersion: runtime }),
    kubeletVersion: settings.kubeletVersion,
    // The agent does not know the version of kube-proxy; an old value is cleared.
    kubeProxyVersion: '',
  });
  if (identity === undefined) return { node: versions, problem: 'error getting version info' };
  const { kernelVersion, osImage } = identity;
  return { node: withNodeInfo(versions, { kernelVersion, osImage }) };
};
