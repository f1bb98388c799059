import { mkdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Server, type sendUnaryData, type ServerUnaryCall, type status } from '@grpc/grpc-js';
import { raceAbort, withTimeout } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { messageOf, TubeletError } from '../base/errors.ts';
import type { OpenRpc, RpcChannel } from '../base/rpc.ts';
import { systemClock } from '../base/system-clock.ts';
import { IdentityService, NodeService } from '../gen/csi/v1.ts';
import { rpcError } from '../grpc/index.ts';
import { FakeCsiVolumes, type FakeCsiTraits } from './fake-csi-volumes.ts';
import { listen, serveFakeRegistration, StatusError, type FakeRegistration } from './fake-registration.ts';

type CsiVerb = keyof typeof NodeService;
type Code = keyof typeof status;

export interface FakeCsiDriverOptions extends Partial<FakeCsiTraits> {
  /** Of the protocol, as it registers them. */
  readonly versions?: readonly string[];
  /** For its delays, and for the deadlines of calls in process. */
  readonly clock?: Clock;
  /** What it makes at the target of a volume; default: nothing. */
  readonly targets?: CsiTargets;
}

/** What appears at a target path when a volume is published there. */
export interface CsiTargets {
  make(path: string, kind: 'folder' | 'file'): Promise<void>;
  remove(path: string): Promise<void>;
}

/** Empty folders and files on the real disk. */
export const diskTargets: CsiTargets = {
  async make(path, kind) {
    await mkdir(kind === 'folder' ? path : dirname(path), { recursive: true });
    if (kind === 'file') await writeFile(path, '');
  },
  async remove(path) {
    try {
      await rmdir(path);
    } catch {
      await rm(path, { force: true });
    }
  },
};

interface CsiFault {
  readonly code: Code;
  readonly details?: string;
  /** How often; default: once. */
  readonly times?: number;
  /** The driver carries the call out, and only the answer is lost. */
  readonly afterwards?: boolean;
}

/**
 * A storage driver in memory, behind a real socket (`serve`) or in process (`open`), with the same state and faults. It
 * insists on the order of calls: staged, published, unpublished, unstaged; each may be repeated. Its volumes outlive its
 * death, as mounts do.
 */
export class FakeCsiDriver {
  readonly traits: FakeCsiTraits;
  readonly volumes: FakeCsiVolumes;
  /** All calls, in order. */
  readonly calls: { readonly verb: CsiVerb; readonly request: unknown }[] = [];
  readonly #options: FakeCsiDriverOptions;
  readonly #clock: Clock;
  readonly #faults = new Map<CsiVerb, { readonly fault: CsiFault; left: number }>();
  readonly #slow = new Map<CsiVerb, number>();
  readonly #hangs = new Map<CsiVerb, { readonly released: Promise<void>; readonly release: () => void }>();
  #awaited: { readonly verb: CsiVerb; readonly resolve: () => void }[] = [];
  readonly #lost = new Set<() => void>();
  /** Aborts when the program dies: calls under way are never answered. */
  #life = new AbortController();
  #server: Server | undefined;

  constructor(options: FakeCsiDriverOptions = {}) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock();
    this.traits = {
      name: options.name ?? 'fake.csi.example.com',
      nodeId: options.nodeId ?? 'node-1',
      topology: options.topology ?? {},
      maxVolumes: options.maxVolumes ?? 0n,
      capabilities: options.capabilities ?? ['STAGE_UNSTAGE_VOLUME', 'GET_VOLUME_STATS', 'EXPAND_VOLUME'],
    };
    this.volumes = new FakeCsiVolumes(this.traits);
  }

  get name(): string {
    return this.traits.name;
  }

  /** The verbs of the calls since the last time. */
  taken(): readonly CsiVerb[] {
    return this.calls.splice(0).map(({ verb }) => verb);
  }

  /** Resolves with the next call of that verb. */
  asked(verb: CsiVerb): Promise<void> {
    return new Promise((resolve) => void this.#awaited.push({ verb, resolve }));
  }

  /** Answers a verb with an error. */
  fail(verb: CsiVerb, fault: CsiFault): void {
    this.#faults.set(verb, { fault, left: fault.times ?? 1 });
  }

  /** Answers a verb later. */
  slow(verb: CsiVerb, ms: number): void {
    this.#slow.set(verb, ms);
  }

  /** Does not answer a verb before the returned function is called. */
  hang(verb: CsiVerb): () => void {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    this.#hangs.set(verb, { released, release });
    return () => {
      this.#hangs.delete(verb);
      release();
    };
  }

  /** Forgets all faults; what hangs goes on. */
  heal(): void {
    for (const { release } of this.#hangs.values()) release();
    for (const map of [this.#faults, this.#slow, this.#hangs]) map.clear();
  }

  /** Listens on a socket; again after `die`, with the same volumes. */
  async serve(socketPath: string): Promise<void> {
    await this.die();
    this.revive();
    const server = new Server();
    const implementation = Object.keys(NodeService).map((verb) => [verb, this.#implementation(verb as CsiVerb)]);
    server.addService(NodeService, Object.fromEntries(implementation));
    const { name } = this.traits;
    server.addService(IdentityService, {
      getPluginInfo: (_call: unknown, done: sendUnaryData<unknown>) =>
        done(null, { name, vendorVersion: 'fake', manifest: {} }),
      probe: (_call: unknown, done: sendUnaryData<unknown>) => done(null, { ready: { value: true } }),
    });
    await listen(server, socketPath);
    this.#server = server;
  }

  /** The program dies, with its connections and its socket. */
  async die(): Promise<void> {
    this.#server?.forceShutdown();
    this.#server = undefined;
    this.#life.abort(
      new TubeletError('unavailable', 'died', { code: 'Unavailable', remoteMessage: 'connection lost' }),
    );
    for (const lost of this.#lost) lost();
  }

  /** It is back, in process. */
  revive(): void {
    this.#life = new AbortController();
  }

  /** Serves its registration socket beside it. */
  register(registrationPath: string, endpoint: string): Promise<FakeRegistration> {
    const { versions = ['1.0.0'] } = this.#options;
    const { name } = this.traits;
    return serveFakeRegistration(registrationPath, { name, endpoint, supportedVersions: [...versions] });
  }

  /** Channels to this driver, whatever the path. */
  readonly open: OpenRpc = (_socketPath, onLost = () => {}) => {
    this.#lost.add(onLost);
    let closed = false;
    const channel: RpcChannel = {
      connected: async () => this.#life.signal.throwIfAborted(),
      call: async (method, request, { signal, timeoutMs = 2 ** 31 - 1 } = {}) => {
        if (closed) throw new TubeletError('cancelled', 'the channel was closed');
        const run = (limit: AbortSignal): Promise<unknown> => this.#answer(verbOf(method.path), request, limit);
        let given: AbortSignal | undefined;
        try {
          return (await withTimeout(this.#clock, timeoutMs, (limit) => run((given = limit)), signal)) as never;
        } catch (error) {
          throw rpcError(error, given ?? signal);
        }
      },
      close: () => {
        closed = true;
        this.#lost.delete(onLost);
      },
    };
    return channel;
  };

  #implementation(verb: CsiVerb) {
    return (call: ServerUnaryCall<unknown, unknown>, done: sendUnaryData<unknown>): void => {
      const gone = new AbortController();
      call.on('cancelled', () => gone.abort(new TubeletError('cancelled', 'the client went away')));
      void this.#reply(verb, call.request, gone.signal, done);
    };
  }

  async #reply(verb: CsiVerb, request: unknown, signal: AbortSignal, done: sendUnaryData<unknown>): Promise<void> {
    try {
      done(null, await this.#answer(verb, request, signal));
    } catch (error) {
      done(asStatus(error));
    }
  }

  async #answer(verb: CsiVerb, request: unknown, signal: AbortSignal): Promise<unknown> {
    const life = this.#life.signal;
    life.throwIfAborted();
    this.calls.push({ verb, request });
    for (const { verb: awaited, resolve } of this.#awaited) if (awaited === verb) resolve();
    this.#awaited = this.#awaited.filter((entry) => entry.verb !== verb);
    const hang = this.#hangs.get(verb);
    if (hang !== undefined) await raceAbort(raceAbort(hang.released, life), signal);
    const slowMs = this.#slow.get(verb);
    if (slowMs !== undefined) await raceAbort(this.#clock.sleep(slowMs, signal), life);
    const fault = this.#nextFault(verb);
    if (fault !== undefined && fault.afterwards !== true) throw new StatusError(fault.code, fault.details ?? '');
    const { answer, appears, disappears } = this.volumes.handle(verb, request);
    if (appears !== undefined) await this.#options.targets?.make(appears.path, appears.kind);
    if (disappears !== undefined) await this.#options.targets?.remove(disappears);
    if (fault !== undefined) throw new StatusError(fault.code, fault.details ?? '');
    return answer;
  }

  #nextFault(verb: CsiVerb): CsiFault | undefined {
    const entry = this.#faults.get(verb);
    if (entry === undefined) return undefined;
    if (--entry.left <= 0) this.#faults.delete(verb);
    return entry.fault;
  }
}

function verbOf(path: string): CsiVerb {
  const verb = Object.entries(NodeService).find(([, method]) => method.path === path)?.[0];
  if (verb === undefined) throw new StatusError('UNIMPLEMENTED', `unknown method ${path}`);
  return verb as CsiVerb;
}

function asStatus(error: unknown): StatusError {
  if (error instanceof StatusError) return error;
  return new StatusError(error instanceof TubeletError ? 'UNAVAILABLE' : 'UNKNOWN', messageOf(error));
}
