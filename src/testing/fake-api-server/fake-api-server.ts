import { describeError, TubeletError } from '../../base/errors.ts';
import type { ApiTransport, TransportAnswer, TransportRequest } from '../../apiserver/ports.ts';
import { abortError } from '../../apiserver/transport/network-error.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { JsonMap } from '../../model/patch-schema.ts';
import { seededRandom } from '../seeded-random.ts';
import { answerRequests, settleRequest, type Signer, type SignerVerdict } from './certificates.ts';
import { FakeApiFaults } from './faults.ts';
import { kindOfResource, namespaces } from './kinds.ts';
import { listObjects } from './lists.ts';
import type { FakeUser } from './new-objects.ts';
import { OtherClient } from './other-client.ts';
import { Refusal } from './refusal.ts';
import { RequestLog, type RequestFilter, type SeenRequest } from './request-log.ts';
import { routeOf, type Call } from './route.ts';
import { ObjectStore, type StoreSnapshot } from './store.ts';
import { FakeTokens } from './tokens.ts';
import { Verbs } from './verbs.ts';
import { Watches } from './watches.ts';

export interface FakeApiServerDeps {
  readonly clock: Clock;
  /** For uids and names; default: the same ones in each run. */
  readonly random?: Random;
  /** The uid of a new object; one at random where it does not say. */
  readonly uidOf?: (object: JsonMap) => string | undefined;
  /** How many changes are kept to watch from. */
  readonly historyLimit?: number;
  /** Who may do what; default: every client everything. */
  readonly authorize?: (request: SeenRequest, user: FakeUser) => boolean;
  /** The answer to a SubjectAccessReview, by its spec; default: no. */
  readonly allows?: (spec: JsonMap) => boolean;
  /** Told of each new CertificateSigningRequest. */
  readonly signer?: Signer;
}

const firstNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const administrator: FakeUser = { name: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] };

/** A whole API server in memory: the client's wire to it, and the levers of a test. */
export class FakeApiServer implements ApiTransport {
  readonly faults: FakeApiFaults;
  readonly tokens: FakeTokens;
  /** Reads and writes as somebody else does, past all faults and unseen by `requests`. */
  readonly objects: OtherClient;
  readonly #deps: FakeApiServerDeps;
  readonly #store: ObjectStore;
  readonly #verbs: Verbs;
  readonly #watches: Watches;
  readonly #log = new RequestLog();
  /** What a signer of the test threw: told to the next who asks for something. */
  #trouble: Error | undefined;

  constructor(deps: FakeApiServerDeps) {
    const { clock, random = seededRandom(1), historyLimit, uidOf, allows = () => false, signer } = deps;
    this.#deps = deps;
    this.#store = new ObjectStore(historyLimit);
    this.tokens = new FakeTokens(clock, random);
    this.#verbs = new Verbs({ clock, random, uidOf, store: this.#store, tokens: this.tokens, allows });
    this.#watches = new Watches({ clock, random, store: this.#store });
    this.faults = new FakeApiFaults(clock, this.#watches);
    this.objects = new OtherClient(this.#store, this.#verbs, clock);
    for (const name of firstNamespaces) {
      this.#verbs.insert(kindOfResource(namespaces), undefined, { metadata: { name } }, administrator);
    }
    if (signer !== undefined)
      answerRequests(this.#store, clock, signer, (error) => {
        this.#trouble = new Error('the signer of the test failed', { cause: error });
      });
  }

  /** The newest version given out. */
  get version(): number {
    return this.#store.version;
  }

  /** Watches that are open. */
  get watches(): number {
    return this.#watches.open.length;
  }

  send(request: TransportRequest): Promise<TransportAnswer> {
    return this.handle(request, administrator);
  }

  /** The wire of somebody else, whose connection says who it is. */
  as(user: FakeUser): ApiTransport {
    return { send: (request) => this.handle(request, user), reset: () => this.reset(), close: () => this.close() };
  }

  reset(): void {
    for (const watch of this.#watches.open) watch.reset();
  }

  async close(): Promise<void> {}

  /** Requests that arrived, oldest first. */
  requests(filter?: RequestFilter): readonly SeenRequest[] {
    return this.#log.matching(filter);
  }

  forgetRequests(): void {
    this.#log.clear();
  }

  /** Older versions cannot be listed or watched from any more. Watches that are open go on. */
  compact(): void {
    this.#store.compact();
  }

  snapshot(): StoreSnapshot {
    return this.#store.snapshot();
  }

  /** The store goes back, versions included; the server in front of it starts anew, so that watches break. */
  restore(snapshot: StoreSnapshot): void {
    this.faults.dropWatches();
    this.#store.restore(snapshot);
  }

  /** Answers a request for a certificate by hand. */
  settleCertificate(name: string, verdict: SignerVerdict): void {
    settleRequest(this.#store, this.#deps.clock, name, verdict);
  }

  /** One request from its arrival to the head of its answer. `connected` is who the connection says it is. */
  async handle(request: TransportRequest, connected: FakeUser): Promise<TransportAnswer> {
    const { signal } = request;
    if (signal.aborted) throw abortError(signal);
    const routed = attempt(() => routeOf(request));
    const call = routed.result;
    const bearer = attempt(() => this.tokens.authenticate(request.headers['authorization'], connected));
    const user = bearer.result ?? { name: 'system:anonymous', groups: ['system:unauthenticated'] };
    const seen = this.#log.add(this.#deps.clock.monotonic(), user.name, request, call);
    try {
      await this.faults.before(seen, signal);
      if (this.#trouble !== undefined) throw this.#trouble;
      if (bearer.refusal !== undefined) throw bearer.refusal;
      const answer = isHealthPath(request.path)
        ? textAnswer()
        : await this.#answer(call ?? raise(routed.refusal), seen, user, signal);
      // Who gave up meanwhile hears nothing; what was done is done.
      if (signal.aborted) throw abortError(signal);
      seen.status = answer.status;
      return answer;
    } catch (error) {
      if (signal.aborted || error instanceof TubeletError) {
        seen.status = 'lost';
        throw signal.aborted ? abortError(signal) : error;
      }
      const refusal = error instanceof Refusal ? error : mistake(error);
      seen.status = refusal.code;
      return jsonAnswer(refusal.code, refusal.toStatus() as JsonMap, refusal.headers);
    }
  }

  async #answer(call: Call, seen: SeenRequest, user: FakeUser, signal: AbortSignal): Promise<TransportAnswer> {
    if (this.#deps.authorize?.(seen, user) === false) throw forbidden(call, user);
    if (call.verb === 'watch') {
      const body = this.#watches.start(call, signal);
      return { status: 200, headers: { 'content-type': 'application/json' }, body };
    }
    const { status, value } =
      call.verb === 'list'
        ? { status: 200, value: await listObjects(call, this.#store, this.#deps.clock, signal) }
        : this.#verbs.carryOut(call, user);
    const answer = jsonAnswer(status, value);
    return this.faults.after(seen) === 'whole' ? answer : { ...answer, body: cut(answer.body) };
  }
}

/** Of the fake, or of a function that the test gave it: nobody shall have to guess. */
function mistake(error: unknown): Refusal {
  return new Refusal(500, `mistake in the fake API server: ${describeError(error)}`, { reason: 'InternalError' });
}

function attempt<T>(run: () => T): { readonly result?: T; readonly refusal?: Refusal } {
  try {
    return { result: run() };
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error };
    throw error;
  }
}

function raise(refusal: Refusal | undefined): never {
  throw refusal ?? new Error('a request has neither a call nor a refusal');
}

function isHealthPath(path: string): boolean {
  return ['/healthz', '/livez', '/readyz'].includes(path.split('?')[0] ?? '');
}

function forbidden({ kind, verb, subresource, name = '' }: Call, user: FakeUser): Refusal {
  const resource = subresource === undefined ? kind.plural : `${kind.plural}/${subresource}`;
  const group = kind.group === '' ? '' : `.${kind.group}`;
  const who = `User "${user.name}" cannot ${verb} resource "${resource}" in API group "${kind.group}"`;
  const details = { ...(name !== '' && { name }), kind: kind.plural, ...(kind.group !== '' && { group: kind.group }) };
  return new Refusal(403, `${kind.plural}${group}${name === '' ? '' : ` "${name}"`} is forbidden: ${who}`, {
    reason: 'Forbidden',
    details,
  });
}

function jsonAnswer(status: number, value: JsonMap, headers: Readonly<Record<string, string>> = {}): TransportAnswer {
  const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: once(bytes) };
}

function textAnswer(): TransportAnswer {
  return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: once(Buffer.from('ok')) };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes;
}

/** Half of the body, and then the connection is gone. */
async function* cut(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for await (const piece of body) {
    yield piece.subarray(0, piece.length / 2);
    throw new TubeletError('unavailable', 'the connection broke within the answer');
  }
}
