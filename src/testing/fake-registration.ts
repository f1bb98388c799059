import { rm } from 'node:fs/promises';
import { Server, ServerCredentials, status, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js';
import {
  RegistrationService,
  type InfoRequest,
  type PluginInfo,
  type RegistrationStatus,
  type RegistrationStatusResponse,
} from '../gen/pluginregistration/v1.ts';

export interface FakeRegistration {
  readonly socketPath: string;
  /** All statuses that it was notified of. */
  readonly statuses: readonly RegistrationStatus[];
  /** The next status that it is notified of. */
  nextStatus(): Promise<RegistrationStatus>;
  /** Leaves calls of a verb unanswered, from now on or no longer. */
  hang(verb: 'getInfo' | 'notifyRegistrationStatus', hangs: boolean): void;
  /** Takes the socket away, as a plugin that ends does. */
  close(): Promise<void>;
}

/** A plugin's registration socket, as node-driver-registrar and device plugins serve it. */
export async function serveFakeRegistration(
  socketPath: string,
  info: Partial<PluginInfo> | (() => Partial<PluginInfo>),
): Promise<FakeRegistration> {
  const statuses: RegistrationStatus[] = [];
  const waiting: ((status: RegistrationStatus) => void)[] = [];
  const hanging = new Set<string>();
  const server = new Server();
  server.addService(RegistrationService, {
    getInfo(_call: ServerUnaryCall<InfoRequest, PluginInfo>, done: sendUnaryData<PluginInfo>) {
      if (hanging.has('getInfo')) return;
      const said = typeof info === 'function' ? info() : info;
      done(null, { type: 'CSIPlugin', name: '', endpoint: '', supportedVersions: [], ...said });
    },
    notifyRegistrationStatus(
      call: ServerUnaryCall<RegistrationStatus, RegistrationStatusResponse>,
      done: sendUnaryData<RegistrationStatusResponse>,
    ) {
      statuses.push(call.request);
      for (const resolve of waiting.splice(0)) resolve(call.request);
      if (!hanging.has('notifyRegistrationStatus')) done(null, {});
    },
  });
  await listen(server, socketPath);
  return {
    socketPath,
    statuses,
    nextStatus: () => new Promise((resolve) => void waiting.push(resolve)),
    hang: (verb, hangs) => void (hangs ? hanging.add(verb) : hanging.delete(verb)),
    async close() {
      server.forceShutdown();
      await rm(socketPath, { force: true });
    },
  };
}

/** Serves at a path, in the place of what a dead program left there. */
export async function listen(server: Server, socketPath: string): Promise<void> {
  await rm(socketPath, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${socketPath}`, ServerCredentials.createInsecure(), (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
}

/** An error with a gRPC status. */
export class StatusError extends Error {
  readonly code: status;
  readonly details: string;

  constructor(code: keyof typeof status, details: string) {
    super(`${code}: ${details}`);
    this.code = status[code];
    this.details = details;
  }
}
