import type { IncomingHttpHeaders } from 'node:http';
import { linkedSignal, raceAbort, type LinkedSignal } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { isKind, messageOf, TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import { addressKey } from '../address-key.ts';
import type { Caller } from '../../model/caller.ts';
import type { PodFields } from '../../model/pod-log.ts';
import { text, type HandOver, type Page, type Right, type RouteRequest, type RouteResponse } from '../route.ts';
import { admit, type AccessControl } from './admission.ts';
import { auditTo, commandWord, type AuditOutcome, type OnAudit } from './audit.ts';
import { unavailable, wrongMethod, type SwitchStates } from './availability.ts';
import { splitCredentials, type CredentialSplit } from './credentials.ts';
import { breakOff, endConnectionAfter, plainHeaders, type Exchange, type UpgradeParts } from './exchange.ts';
import { hasTooManyHeaders } from './header-limits.ts';
import { defaultLimits, type ServerLimits } from './limits.ts';
import { routeMatcher, type BoundRoute, type FoundRoute, type RouteMatcher } from './match-route.ts';
import { isForeignPage } from './origin.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import type { HandOverFunction } from './ports.ts';
import { readBody } from './read-body.ts';
import { RequestMetrics, requestLabels } from './request-metrics.ts';
import { sendPage, sendStream } from './send.ts';
import { parseTarget, type Target } from './target.ts';

interface PipelineDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** `bindRoutes(handlers)`. */
  readonly routes: readonly BoundRoute[];
  readonly switches: SwitchStates;
  /** Without it every request on the secured port is refused. */
  readonly access?: AccessControl | undefined;
  readonly handOver: HandOverFunction;
  /** streamingConnectionIdleTimeout. */
  readonly streamIdleMs: number;
  readonly limits?: Partial<ServerLimits>;
  /** Called for every request that runs something; default: a line of the log. */
  readonly onAudit?: OnAudit;
}

/** One request on its way through the pipeline. */
interface RequestContext {
  readonly exchange: Exchange;
  readonly method: string;
  readonly target: Target;
  readonly found: FoundRoute | undefined;
  /** Without credentials. */
  readonly headers: IncomingHttpHeaders;
  /** Ends when the client goes away. */
  readonly life: LinkedSignal;
  caller: Caller | undefined;
  /** An answer has begun. */
  isAnswered: boolean;
  /** The time for the answer is over. */
  isLate: boolean;
  isAudited: boolean;
}

const badRequest: Page = text(400, '400 Bad Request\n');
const failed: Page = text(500, 'Internal Server Error\n');
const ending: Page = text(503, 'Service Unavailable\n');
const tooLate: Page = text(504, 'Gateway Timeout\n');
const upgradeRequired: Page = text(400, 'Upgrade request required\n');
const foreignPage: Page = text(403, 'Forbidden: a page of another origin may not ask for this\n');
const tooManyHeaders: Page = text(431, 'Request Header Fields Too Large\n');
const tooMany: Page = { ...text(429, 'Too Many Requests\n'), headers: { 'retry-after': '1' } };
/** The right for a path without a page: a caller that may not do everything cannot find out which pages there are. */
const rightOfUnknownPaths: Right = { subresource: 'proxy' };
const loggedPathCharacters = 256;

/**
 * The steps of every request, on whichever listener it came in:
 *
 *   parse ─> (secure: who? allowed?) ─> switched on? ─> method? ─> room? ─> body ─> handler ─> answer
 *      └──────────┴────────────────────────┴──────────────┴─────────┴────────┴──────────┴──────> a page that says why not
 */
export class RequestPipeline {
  readonly limits: ServerLimits;
  readonly #deps: PipelineDeps;
  readonly #match: RouteMatcher;
  readonly #metrics: RequestMetrics;
  readonly #audit: OnAudit;
  readonly #arriving: ConcurrencyLimit;
  readonly #deciding: ConcurrencyLimit;
  readonly #short: ConcurrencyLimit;
  readonly #long: ConcurrencyLimit;

  constructor(deps: PipelineDeps) {
    this.#deps = deps;
    this.limits = { ...defaultLimits, ...deps.limits };
    const { arriving, deciding, short, long } = this.limits;
    this.#match = routeMatcher(deps.routes);
    this.#metrics = new RequestMetrics(deps.metrics, deps.clock);
    this.#audit = deps.onAudit ?? auditTo(deps.log);
    this.#arriving = new ConcurrencyLimit(arriving.inAll, arriving.each);
    this.#deciding = new ConcurrencyLimit(deciding.inAll, deciding.each);
    this.#short = new ConcurrencyLimit(short.inAll, short.each);
    this.#long = new ConcurrencyLimit(long.inAll, long.each);
  }

  /** Requests that are being served. */
  get underWay(): number {
    return this.#arriving.taken + this.#deciding.taken + this.#short.taken + this.#long.taken;
  }

  /** Resolves when the request is over, whatever became of it. Never rejects. */
  async serve(exchange: Exchange): Promise<void> {
    const { request, response, listener, peer } = exchange;
    const method = request.method ?? '';
    const target = parseTarget(request.url ?? '');
    const segments = target.kind === 'path' ? target.segments : [];
    const { credentials, headers } = splitCredentials(plainHeaders(request.headers), peer);
    const life = linkedSignal(undefined);
    const found = target.kind === 'path' ? this.#match(segments) : undefined;
    const context: RequestContext = {
      exchange,
      method,
      target,
      found,
      headers,
      life,
      caller: undefined,
      isAnswered: false,
      isLate: false,
      isAudited: false,
    };
    const count = this.#metrics.begin(requestLabels(listener, method, segments));
    const onClose = (): void => life.abort(new TubeletError('cancelled', 'the client went away'));
    // An error of a connection is followed by its close, and the close is what counts.
    request.on('error', ignore);
    response.on('error', ignore);
    response.once('close', onClose);
    // After an upgrade the streaming session ends the connection, so that no close listener is needed here.
    const finish = peer.connection?.begin(exchange.upgrade === undefined ? onClose : undefined);
    try {
      const page = (await this.#refusal(context, credentials)) ?? this.#rejectEarly(context, segments);
      if (page !== undefined) await this.#answer(context, page, life.signal);
      else if (found !== undefined) await this.#serveRoute(context, found);
    } catch (error) {
      await this.#fail(context, error);
    } finally {
      finish?.();
      count();
      response.off('close', onClose);
    }
  }

  /** The page that refuses, or nothing when the caller may go on. */
  async #refusal(context: RequestContext, credentials: CredentialSplit['credentials']): Promise<Page | undefined> {
    const { request, response, listener, peer } = context.exchange;
    const isAuthenticated = peer.connection?.isAuthenticated === true;
    if (hasTooManyHeaders(request.rawHeaders, isAuthenticated, this.limits)) return tooManyHeaders;
    if (listener !== 'secure') return undefined;
    const page = await this.#admit(context, credentials);
    // The certificate was checked under the authorities of then, and might be good by now on another connection.
    if (page?.status === 401 && peer.chain.length > 0) endConnectionAfter(response);
    return page;
  }

  async #admit(context: RequestContext, credentials: CredentialSplit['credentials']): Promise<Page | undefined> {
    const { exchange, method, found, life, target } = context;
    const { clock, log, access } = this.#deps;
    const { address, connection } = exchange.peer;
    const known = connection?.caller;
    const leave = known === undefined ? this.#arriving.enter(addressKey(address)) : this.#deciding.enter(known);
    if (leave === undefined) return tooMany;
    try {
      const right = found?.spec.right ?? rightOfUnknownPaths;
      const request = { credentials, method, right, path: forLog(target.path) };
      const admission = await admit({ clock, log, access, accessMs: this.limits.accessMs }, request, life.signal);
      context.caller = admission.caller;
      if (admission.kind === 'refused') return admission.page;
      // Every pod has a token, so that a good one alone, without a right, does not protect its connection.
      if (!isAnonymous(admission.caller)) connection?.authenticated(admission.caller.name);
      return undefined;
    } finally {
      leave();
    }
  }

  #rejectEarly(
    { exchange, target, found, method, headers }: RequestContext,
    segments: readonly string[],
  ): Page | undefined {
    if (target.kind === 'bad') return badRequest;
    if (isForeignPage(method, exchange.upgrade !== undefined, headers)) return foreignPage;
    const page = unavailable(segments, found?.spec, exchange.listener, this.#deps.switches);
    return page ?? (found === undefined ? undefined : wrongMethod(found.spec, method));
  }

  async #serveRoute(context: RequestContext, found: FoundRoute): Promise<void> {
    const { caller, exchange, life } = context;
    const { clock } = this.#deps;
    const { limitMs: ms } = found.spec;
    const limit = ms === undefined ? this.#long : this.#short;
    const leave = limit.enter(limitKey(caller, exchange.peer.address));
    if (leave === undefined) {
      await this.#answer(context, tooMany, life.signal);
      return;
    }
    const limited = linkedSignal(life.signal, ms === undefined ? undefined : { clock, ms });
    try {
      await this.#answer(context, await this.#ask(context, found, limited.signal), limited.signal);
    } finally {
      context.isLate = limited.signal.aborted && !life.signal.aborted;
      limited.release();
      leave();
    }
  }

  /** The handler's answer; the time limit holds also for a handler that ignores the signal. */
  async #ask(context: RequestContext, found: FoundRoute, signal: AbortSignal): Promise<RouteResponse> {
    const { exchange, method, target, headers, caller } = context;
    const { spec, params, handler } = found;
    const { clock } = this.#deps;
    const wantsUpgrade = exchange.upgrade !== undefined && spec.streams === 'upgrade';
    const body = await readBody(exchange, { clock, maxBytes: spec.bodyBytes, ms: this.limits.requestMs }, signal);
    if (!Buffer.isBuffer(body)) return body;
    // Without a reader the end of a connection is not noticed.
    if (!wantsUpgrade) exchange.upgrade?.socket.resume();
    const request: RouteRequest = {
      listener: exchange.listener,
      method,
      path: target.path,
      query: queryOf(target),
      params,
      headers,
      body,
      caller,
      wantsUpgrade,
      signal,
    };
    return raceAbort(handler(request), signal);
  }

  async #answer(context: RequestContext, answer: RouteResponse, signal: AbortSignal): Promise<void> {
    const { exchange, target, found } = context;
    const { upgrade } = exchange;
    const { clock, log } = this.#deps;
    const limits = { clock, stallMs: this.limits.stallMs };
    if (answer.kind === 'handOver') {
      if (upgrade === undefined || found?.spec.streams !== 'upgrade')
        await this.#answer(context, upgradeRequired, signal);
      else await this.#handOver(context, upgrade, answer);
      return;
    }
    this.#auditOnce(context, { kind: 'answered', status: answer.status });
    context.isAnswered = true;
    if (answer.kind === 'stream') {
      await sendStream(exchange, answer, limits, signal);
      return;
    }
    if (answer.problem !== undefined)
      log.debug(2, 'Request answered with a problem', { path: forLog(target.path), err: answer.problem });
    await sendPage(exchange, answer, limits, signal);
  }

  /** The session ends the connection, so the pipeline no longer watches for its close. */
  async #handOver(context: RequestContext, upgrade: UpgradeParts, { to, about }: HandOver): Promise<void> {
    const { headers, life, target } = context;
    const { request, socket, head } = upgrade;
    const { clock, log, streamIdleMs: idleMs, handOver } = this.#deps;
    this.#auditOnce(context, { kind: 'handedOver' }, about);
    context.isAnswered = true;
    upgrade.detach();
    // A body that Node.js reads for itself would hold back what comes behind it.
    request.resume();
    try {
      await handOver({ log: log.with(about), clock, idleMs }, request, socket, head, headers, to, life.signal);
    } catch (error) {
      log.error(error, 'Request failed', { path: forLog(target.path) });
      socket.destroy();
    }
  }

  #auditOnce(context: RequestContext, outcome: AuditOutcome, about?: PodFields): void {
    const { exchange, found, caller, method, target, isAudited } = context;
    if (found?.spec.right.alsoVerb === undefined || isAudited) return;
    context.isAudited = true;
    const command = commandWord(queryOf(target));
    this.#audit({
      caller,
      address: exchange.peer.address,
      method,
      path: forLog(target.path),
      command,
      outcome,
      ...(about && { about }),
    });
  }

  /** An answer that has begun can only be broken off; otherwise the client gets a status without the reason. */
  async #fail(context: RequestContext, error: unknown): Promise<void> {
    const { exchange, life, target, isAnswered, isLate } = context;
    const { log } = this.#deps;
    const path = forLog(target.path);
    // A failure that the client caused by not taking the answer is no failure of the agent.
    const isClients = life.signal.aborted || (isAnswered && isKind(error, 'cancelled', 'timeout'));
    // The handler was stopped: the agent ends.
    const isEnding = !isLate && isKind(error, 'cancelled');
    if (isClients || isLate || isEnding) log.debug(2, 'Request was given up', { path, err: messageOf(error) });
    else log.error(error, 'Request failed', { path });
    if (life.signal.aborted || exchange.response.headersSent) {
      breakOff(exchange);
      return;
    }
    try {
      await this.#answer(context, isLate ? tooLate : isEnding ? ending : failed, life.signal);
    } catch (second) {
      log.debug(2, 'Request could not be answered', { path, err: messageOf(second) });
      breakOff(exchange);
    }
  }
}

/** Unauthenticated clients share one limit per address. */
function limitKey(caller: Caller | undefined, address: string): string {
  return caller === undefined || isAnonymous(caller) ? `@${addressKey(address)}` : caller.name;
}

function isAnonymous({ groups }: Caller): boolean {
  return groups.includes('system:unauthenticated');
}

function queryOf(target: Target): URLSearchParams {
  return new URLSearchParams(target.kind === 'path' ? target.search : '');
}

function forLog(path: string): string {
  return path.length > loggedPathCharacters ? `${path.slice(0, loggedPathCharacters)}…` : path;
}

function ignore(): void {}
