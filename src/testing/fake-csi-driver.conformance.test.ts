import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noCalls } from '../base/calls.ts';
import type { OpenRpc } from '../base/rpc.ts';
import { systemClock } from '../base/system-clock.ts';
import { unixChannels } from '../grpc/index.ts';
import { DriverClient } from '../volumes/csi/driver-client.ts';
import { csiConformance, type CsiSubject } from './csi-conformance/index.ts';
import { diskTargets, FakeCsiDriver } from './fake-csi-driver.ts';

const clock = systemClock();
const traits = {
  nodeId: 'node-1',
  topology: { 'topology.example.com/node': 'node-1' },
  capabilities: ['STAGE_UNSTAGE_VOLUME', 'GET_VOLUME_STATS', 'EXPAND_VOLUME', 'VOLUME_CONDITION'],
} as const;

const ends: (() => Promise<void> | void)[] = [];
async function teardown(): Promise<void> {
  for (const end of ends.splice(0).toReversed()) await end();
}

async function subjectFor(open: (driver: FakeCsiDriver, socket: string) => Promise<OpenRpc>): Promise<CsiSubject> {
  const folder = await mkdtemp(join(tmpdir(), 'fake-csi-'));
  ends.push(() => rm(folder, { recursive: true, force: true }));
  const fake = new FakeCsiDriver({ ...traits, targets: diskTargets });
  const endpoint = join(folder, 'csi.sock');
  const client = {
    calls: noCalls,
    clock,
    open: await open(fake, endpoint),
    called: () => {},
    name: fake.name,
    endpoint,
  };
  const driver = new DriverClient(client);
  ends.push(
    () => fake.die(),
    () => driver.close(),
  );
  let made = 0;
  return {
    driver,
    folder,
    node: { nodeId: traits.nodeId, topology: traits.topology, maxVolumes: undefined },
    capabilities: traits.capabilities,
    create: async () => `volume-${++made}`,
    remove: async (id) => fake.volumes.remove(id),
  };
}

csiConformance({
  name: 'the fake driver in process',
  setup: () => subjectFor(async (driver) => driver.open),
  teardown,
});

csiConformance({
  name: 'the fake driver behind its socket',
  setup: () =>
    subjectFor(async (driver, socket) => {
      await driver.serve(socket);
      return unixChannels(clock);
    }),
  teardown,
});
