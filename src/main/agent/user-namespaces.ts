import type { Random } from '../../base/random.ts';
import type { Log } from '../../base/log.ts';
import type { Settings } from '../../config/index.ts';
import { atomicWrite, hostFiles, nodePrograms } from '../../host/index.ts';
import { blockCount, readIdSpace, type UserNamespacesDeps } from '../../pods/userns/index.ts';

/**
 * What pods with user namespaces need besides the runtime: ids to allocate, and a disk that remembers the allocations.
 */
type UserNamespacePolicy = Pick<UserNamespacesDeps, 'enabled' | 'files' | 'readSpace'>;

const recordMode = 0o600;
const defaultIdsPerPod = 65_536;

export function userNamespacePolicy(
  { config, featureGates }: Settings,
  { log, random }: { readonly log: Log; readonly random: Random },
): UserNamespacePolicy {
  return {
    enabled: featureGates.enabled('UserNamespacesSupport'),
    files: {
      list: (path) => hostFiles.list(path),
      readText: (path) => hostFiles.readText(path),
      replace: (path, text) => atomicWrite(path, text, { mode: recordMode, random }),
    },
    readSpace: async () => {
      const reading = await readIdSpace(nodePrograms, config.userNamespaces?.idsPerPod ?? defaultIdsPerPod);
      if ('space' in reading && blockCount(reading.space) < config.maxPods) {
        const { maxPods } = config;
        log.warn('Not every pod can have users of its own', { maxPods, userNamespaces: blockCount(reading.space) });
      }
      return reading;
    },
  };
}
