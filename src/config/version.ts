/** The Kubernetes release whose kubelet this agent replaces. */
export const kubernetesRelease = '1.34.0';

/** The version reported to the API server and to operators: the release, and the version of tubelet. */
function gitVersion(tubeletVersion: string): string {
  return `v${kubernetesRelease}+tubelet.${tubeletVersion}`;
}

/** The answer to `--version` and `--version=raw`; undefined when the agent should run. */
export function versionText(wanted: string | undefined, tubeletVersion: string): string | undefined {
  const version = gitVersion(tubeletVersion);
  if (wanted === 'true') return `Kubernetes ${version}\n`;
  if (wanted !== 'raw') return undefined;
  const [major = '', minor = ''] = kubernetesRelease.split('.');
  return `version.Info{Major:"${major}", Minor:"${minor}", GitVersion:"${version}"}\n`;
}

/** The version that `--version=vX.Y.Z` makes the agent report. It may extend the release, but not be another one. */
export function reportedVersion(
  wanted: string | undefined,
  tubeletVersion: string,
): { version: string } | { fault: string } {
  if (wanted === undefined || !wanted.startsWith('v')) return { version: gitVersion(tubeletVersion) };
  const [release] = wanted.slice(1).split(/[-+]/);
  if (release === kubernetesRelease) return { version: wanted };
  return { fault: `invalid argument "${wanted}" for "--version" flag: must begin with v${kubernetesRelease}` };
}
