import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Server, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js';
import {
  RegistrationService,
  type InfoRequest,
  type PluginInfo,
  type RegistrationStatus,
  type RegistrationStatusResponse,
} from '../../../../src/gen/pluginregistration/v1.ts';
import { listen } from '../../../../src/testing/fake-registration.ts';
import { until } from '../../../support/real-wait.ts';

interface RegistrarOptions {
  /** Root directory of the agent. */
  readonly kubeletRoot: string;
  readonly driver: string;
  /** The driver's socket. */
  readonly endpoint: string;
  /** What the agent has to say, for when it does not come. */
  readonly words: () => string;
}

/**
 * Introduces a driver to the agent, as the program does that stands beside every driver in a cluster: a socket in the
 * agent's folder of plugins, where the agent asks who is there and says what came of it. It stays while the driver restarts.
 */
export class Registrar {
  readonly #options: RegistrarOptions;
  readonly #socketPath: string;
  readonly #told: RegistrationStatus[] = [];
  #server: Server | undefined;

  constructor(options: RegistrarOptions) {
    this.#options = options;
    this.#socketPath = join(options.kubeletRoot, 'plugins_registry', `${options.driver}-reg.sock`);
  }

  /** What the agent said of the registration, each time it came to one. */
  get told(): readonly RegistrationStatus[] {
    return this.#told;
  }

  async start(): Promise<void> {
    const { driver: name, endpoint } = this.#options;
    const server = new Server();
    server.addService(RegistrationService, {
      getInfo(_call: ServerUnaryCall<InfoRequest, PluginInfo>, done: sendUnaryData<PluginInfo>) {
        done(null, { type: 'CSIPlugin', name, endpoint, supportedVersions: ['1.0.0'] });
      },
      notifyRegistrationStatus: (
        { request }: ServerUnaryCall<RegistrationStatus, RegistrationStatusResponse>,
        done: sendUnaryData<RegistrationStatusResponse>,
      ) => {
        this.#told.push(request);
        done(null, {});
      },
    });
    mkdirSync(dirname(this.#socketPath), { recursive: true });
    await listen(server, this.#socketPath);
    this.#server = server;
  }

  /** Returns when the agent has taken the driver on, for the given time. */
  async registered(times = 1): Promise<void> {
    const good = (): number => this.#told.filter(({ pluginRegistered }) => pluginRegistered).length;
    await until(`driver ${this.#options.driver} is registered`, () => good() >= times, {
      timeoutMs: 60_000,
      state: () => [this.#told, this.#options.words()],
    });
  }

  async stop(): Promise<void> {
    this.#server?.forceShutdown();
    this.#server = undefined;
    await rm(this.#socketPath, { force: true });
  }
}
