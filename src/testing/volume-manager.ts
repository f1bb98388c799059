import assert from 'node:assert/strict';
import { noDecisions } from './no-decisions.ts';
import { noClaims, VolumeManager, type CsiVolumes, type VolumeManagerDeps } from '../volumes/index.ts';
import { Registry } from '../telemetry/index.ts';

type Needed = 'clock' | 'log' | 'host' | 'paths' | 'plugins' | 'subPaths' | 'events';

/** Default: on a node without claims, with events, decisions and wakes that are ignored. */
export function aVolumeManager(deps: Pick<VolumeManagerDeps, Needed> & Partial<VolumeManagerDeps>): VolumeManager {
  return new VolumeManager({
    decisions: noDecisions,
    claims: noClaims,
    wake: () => {},
    refreshInMs: () => undefined,
    metrics: new Registry(),
    inUseChanged: () => {},
    ...deps,
  });
}

/** For tests without volumes of storage drivers. */
export const noCsiVolumes: CsiVolumes = {
  attachable: () => undefined,
  setUp: async () => assert.fail('there is no storage driver'),
  tearDown: async () => assert.fail('there is no storage driver'),
};
