import { withTimeout } from '../../base/abort.ts';
import type { Calls } from '../../base/calls.ts';
import type { Broadcaster } from '../../base/broadcaster.ts';
import type { CallOptions } from '../../base/call.ts';
import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { isKind, messageOf, TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { OpenRpc } from '../../base/rpc.ts';
import type { StorageDriver } from '../../model/storage-driver.ts';
import { DriverClient } from './driver-client.ts';
import { notRegistered } from './driver-errors.ts';
import { driverMetrics, type RecordDriverCall } from './driver-metrics.ts';
import type { DriverInfo, DriverRecord } from './driver-ports.ts';
import {
  compareVersions,
  driverNameProblem,
  endpointProblem,
  highestVersion,
  type DriverVersion,
} from './driver-version.ts';

interface CsiDriversDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly open: OpenRpc;
  /** Records calls while they are under way. */
  readonly calls: Calls;
  readonly record: DriverRecord;
  /** A driver was registered or deregistered: volumes that wait for it may go on. */
  readonly changed: Pick<Broadcaster<string>, 'broadcast'>;
}

interface RegisteredDriver {
  readonly client: DriverClient;
  readonly version: DriverVersion;
}

/** For a driver that starts more slowly than its registrar. */
const nodeMs = 120_000;
const nodeRetry = { initialMs: 500, maxMs: 8_000 };
/** How long registration waits for the API server. The driver works without it, and is recorded later. */
const recordMs = 10_000;

/**
 * The storage drivers of this node, by name; the handler of plugins of type CSIPlugin.
 *
 *   absent ──register──> NodeGetInfo ──> registered, recorded ──deregister──> absent, record removed
 *     ^──────── refused, aborted ──┴──────── refused ──┘
 */
export class CsiDrivers implements Component {
  readonly name = 'storage-drivers';
  readonly #deps: CsiDriversDeps;
  readonly #called: RecordDriverCall;
  readonly #drivers = new Map<string, RegisteredDriver>();
  /** Drivers that are being registered: their names are taken already. */
  readonly #registering = new Map<string, DriverVersion>();

  constructor(deps: CsiDriversDeps) {
    this.#deps = deps;
    this.#called = driverMetrics(deps.metrics);
  }

  get(name: string): DriverClient | undefined {
    return this.#drivers.get(name)?.client;
  }

  /** Throws `unavailable` while there is none of that name: it may register later. */
  find(name: string): DriverClient {
    const client = this.get(name);
    if (client === undefined) throw notRegistered(name);
    return client;
  }

  names(): readonly string[] {
    return [...this.#drivers.keys()];
  }

  async validate(driver: DriverInfo): Promise<void> {
    this.#negotiate(driver);
  }

  async register(driver: DriverInfo, _socketPath: string, signal: AbortSignal): Promise<void> {
    const version = this.#negotiate(driver);
    const { name } = driver;
    this.#registering.set(name, version);
    try {
      await this.#add(driver, version, signal);
    } finally {
      this.#registering.delete(name);
    }
    this.#deps.changed.broadcast(name);
  }

  /** Ignores an endpoint that a newer registration of the name has replaced. */
  async deregister(name: string, endpoint: string): Promise<void> {
    const { record, changed } = this.#deps;
    const present = this.#drivers.get(name);
    if (present === undefined || present.client.endpoint !== endpoint) return;
    this.#drivers.delete(name);
    present.client.close();
    record.removeDriver(name);
    changed.broadcast(name);
  }

  /** Calls NodeGetInfo again and records the answer: the limits of the node may have changed. */
  async refresh(name: string, signal: AbortSignal): Promise<void> {
    const node = await this.find(name).node({ signal });
    if (this.#drivers.has(name)) await this.#deps.record.setDriver(name, node, signal);
  }

  /** Drivers register by themselves. */
  async start(): Promise<void> {}

  /** No new calls; drivers stay recorded in the cluster. */
  async stop(): Promise<void> {
    for (const { client } of this.#drivers.values()) client.close();
    this.#drivers.clear();
  }

  /** The version to use; throws when the driver cannot be registered. */
  #negotiate({ name, endpoint, supportedVersions }: DriverInfo): DriverVersion {
    const wrongName = driverNameProblem(name);
    if (wrongName !== undefined) throw new TubeletError('invalid', `driver name "${name}" ${wrongName}`);
    const wrongEndpoint = endpointProblem(endpoint);
    if (wrongEndpoint !== undefined) {
      throw new TubeletError('invalid', `endpoint "${endpoint}" of driver ${name} ${wrongEndpoint}`);
    }
    const version = highestVersion(supportedVersions);
    if (version === undefined) {
      const has = supportedVersions.length === 0 ? 'none' : supportedVersions.join(', ');
      throw new TubeletError('unsupported', `driver ${name} supports no version 1.x of CSI (it says: ${has})`);
    }
    const present = this.#registering.get(name) ?? this.#drivers.get(name)?.version;
    if (present !== undefined && compareVersions(version, present) <= 0) {
      const message = `driver ${name} is already registered with version ${present.text}, which is no lower than ${version.text}`;
      throw new TubeletError('alreadyExists', message);
    }
    return version;
  }

  async #add({ name, endpoint }: DriverInfo, version: DriverVersion, signal: AbortSignal): Promise<void> {
    const { clock, log, open, calls } = this.#deps;
    const client = new DriverClient({ clock, open, calls, called: this.#called, name, endpoint });
    try {
      const node = await this.#askNode(client, signal);
      const before = this.#drivers.get(name);
      // From here on volumes can use it; calls to the earlier client go on to their end.
      this.#drivers.set(name, { client, version });
      before?.client.close();
      await this.#recordNode(name, node, signal);
      log.info('Storage driver is registered', { driver: name, endpoint, version: version.text, nodeId: node.nodeId });
    } catch (error) {
      client.close();
      if (this.#drivers.get(name)?.client === client) {
        this.#drivers.delete(name);
        this.#deps.record.removeDriver(name);
      }
      throw error;
    }
  }

  /** Retries, because the registrar may be up before its driver. */
  async #askNode(client: DriverClient, signal: AbortSignal): Promise<StorageDriver> {
    const { clock, log } = this.#deps;
    const until = clock.monotonic() + nodeMs;
    for (let waitMs = nodeRetry.initialMs; ; waitMs = Math.min(waitMs * 2, nodeRetry.maxMs)) {
      const options: CallOptions = { signal, timeoutMs: Math.max(until - clock.monotonic(), 1) };
      try {
        return await client.node(options);
      } catch (error) {
        const isOver = clock.monotonic() + waitMs >= until;
        if (isOver || signal.aborted || !isKind(error, 'unavailable')) throw error;
        log.debug(2, 'Storage driver does not answer yet', { driver: client.name, err: messageOf(error), waitMs });
      }
      await clock.sleep(waitMs, signal);
    }
  }

  /** Only a refusal fails the registration: while the API server is away the driver is recorded later. */
  async #recordNode(name: string, node: StorageDriver, signal: AbortSignal): Promise<void> {
    const { clock, log, record } = this.#deps;
    try {
      await withTimeout(clock, recordMs, (limit) => record.setDriver(name, node, limit), signal);
    } catch (error) {
      if (signal.aborted || !isKind(error, 'timeout', 'unavailable', 'exhausted', 'cancelled')) throw error;
      log.warn('Storage driver is not yet on record in the cluster', { driver: name, err: messageOf(error) });
    }
  }
}
