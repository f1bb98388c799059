import { Heartbeats } from '../../src/base/heartbeats.ts';
import { CertificateStore, ClientCertificateManager } from '../../src/apiserver/identity/index.ts';
import { IssuedServingCertificate } from '../../src/apiserver/identity/issued-serving-certificate.ts';
import { clientMetrics } from '../../src/apiserver/index.ts';
import { silentLog } from '../../src/base/log.ts';
import { resolveGates } from '../../src/config/index.ts';
import { LocalStorageEviction } from '../../src/eviction/index.ts';
import { announceProviders } from '../../src/images/index.ts';
import { agentMetrics } from '../../src/main/agent/agent-metrics.ts';
import { announceLosingSupport } from '../../src/main/agent/connect-runtime.ts';
import { runtimeCallMetrics } from '../../src/main/agent/telemetry.ts';
import { createPlugins } from '../../src/plugins/create-plugins.ts';
import { createStorageDrivers } from '../../src/volumes/create-storage-drivers.ts';
import { noDriverRecord } from '../../src/volumes/csi/index.ts';
import { CgroupVersionCheck, CgroupWriter } from '../../src/resources/cgroups/index.ts';
import {
  AccessReviews,
  ClientCertificates,
  TokenReviews,
  type AuthorityFiles,
  type ReviewApi,
} from '../../src/server/auth/index.ts';
import { RequestFigures } from '../../src/server/listener/request-figures.ts';
import { podResourcesMetrics } from '../../src/server/podresources/pod-resources-metrics.ts';
import { StatsMetrics } from '../../src/stats/index.ts';
import { Registry, type FamilyShape } from '../../src/telemetry/index.ts';
import { FakeClock } from '../../src/testing/fake-clock.ts';
import { MemoryCertificateFiles } from '../../src/testing/memory-certificate-files.ts';
import { UnexpectedErrors } from '../../src/main/unexpected-errors.ts';
import { noDecisions } from '../../src/model/decisions.ts';
import { NodeStartup } from '../../src/node/index.ts';
import { commonPorts } from '../../src/testing/common-ports.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { testSettings } from './agent-world.ts';
import { ClusterWorld } from './cluster-world.ts';

/** Whatever is asked of it while things are only made is a mistake of the test. */
function untouched<T extends object>(): T {
  return new Proxy({} as T, {
    get: (_, key) => {
      throw new Error(`nobody should ask for ${String(key)}`);
    },
  });
}

/** Every metric of the page `/metrics` of an agent that has all there is: a cluster, issued certificates, plugins. */
export async function agentFamilies(): Promise<readonly FamilyShape[]> {
  const world = new ClusterWorld({ machine: { settings: { ...testSettings, featureGates: () => true } } });
  await world.start();
  const { registry } = world;
  registerRest(registry);
  await world.stop();
  return registry.families();
}

/** What is made on the way to a pod machine, and by the server; answered only so that it was made for something. */
function registerRest(registry: Registry): readonly unknown[] {
  const [clock, random, log, metrics] = [new FakeClock(), seededRandom(1), silentLog, registry];
  const ports = commonPorts({ clock, random, log, metrics });
  const { gates: featureGates } = resolveGates({});
  const settings = { featureGates, version: 'v1.34.0' };
  agentMetrics({ registry, otherPages: [new Registry()], settings, nodeName: 'node-1', clock });
  new UnexpectedErrors({ clock, log }).countIn(registry);
  runtimeCallMetrics(registry);
  announceLosingSupport(registry);
  announceProviders(registry, 'hash');
  clientMetrics(registry, 'api.test:6443', clock);
  const certificates = {
    clock,
    random,
    log,
    metrics,
    nodeName: 'node-1',
    store: new CertificateStore({ files: new MemoryCertificateFiles(), log, folder: '/pki', purpose: 'client' }),
    api: untouched<ConstructorParameters<typeof ClientCertificateManager>[0]['api']>(),
  };
  return [
    new ClientCertificateManager({ heartbeats: new Heartbeats(), ...certificates, onRotated: () => {} }),
    new IssuedServingCertificate({ heartbeats: new Heartbeats(), ...certificates, addresses: () => [] }),
    new CgroupWriter({ clock, log, metrics, tree: untouched(), version: 2, controllers: new Set() }),
    new CgroupVersionCheck({ metrics, version: 2, failCgroupV1: false }),
    createStorageDrivers({ ports, signals: { driverChanged: untouched() }, open: untouched(), record: noDriverRecord }),
    createPlugins({ ports, settings: { rootDir: '/' }, files: untouched(), open: untouched(), handlers: {} }),
    new LocalStorageEviction({
      heartbeats: new Heartbeats(),
      decisions: noDecisions,
      clock,
      random,
      log,
      metrics,
      pods: untouched(),
      workers: untouched(),
      meter: untouched(),
      events: untouched(),
    }),
    new StatsMetrics(metrics),
    new NodeStartup({ clock, metrics, upSeconds: 1, startedAt: 0 }),
    ...serverParts(registry),
  ];
}

function serverParts(registry: Registry): readonly unknown[] {
  const [clock, random, log, metrics] = [new FakeClock(), seededRandom(1), silentLog, registry];
  const reviews = { clock, random, metrics, api: untouched<ReviewApi>() };
  const files = untouched<AuthorityFiles>();
  return [
    new RequestFigures(registry, clock),
    podResourcesMetrics(registry),
    new TokenReviews({ ...reviews, cacheTtlMs: 1 }),
    new AccessReviews({ ...reviews, nodeName: 'node-1', authorizedTtlMs: 1, unauthorizedTtlMs: 1 }),
    new ClientCertificates({
      heartbeats: new Heartbeats(),
      clock,
      random,
      log,
      metrics,
      files,
      clientCAFile: '/ca.crt',
      userIds: true,
    }),
  ];
}
