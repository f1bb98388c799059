import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { withTimeout } from '../../../base/abort.ts';
import type { Clock } from '../../../base/clock.ts';
import { cutText, maxMessageBytes } from '../../../base/cut-text.ts';
import { isKind, messageOf } from '../../../base/errors.ts';
import { goQuote } from '../../../model/go-text.ts';
import type { Prober, ProbeOutcome } from '../ports.ts';
import { httpProbeRequest, redirectOf, sameHost, type HttpHop, type HttpProbeRequest } from './http-request.ts';
import { codeOf, dialFailure, dialTimeout, errnoText, hostAndPort } from '../../../model/network-text.ts';
import { noAddressYet } from './no-address.ts';
import { outputText } from './output.ts';

const maxRequests = 10;
/** Limit of 1xx responses before the answer, as in Go's client. */
const maxInformational = 5;
/** Limit of a URL in a message; that of a redirect may have 256 KiB. */
const maxUrlBytes = 2_048;
/** More than servers are known to send; Node's own limit is a sixteenth of it. */
const maxHeaderBytes = 256 * 1_024;

/** How far a probe has come, for the message of its failure. */
interface Progress {
  phase: 'dial' | 'headers' | 'body';
  hop: HttpHop;
  /** Both ends of the connection, as far as known. */
  ends: string;
}

/** A GET that is answered by a status from 200 to 399 is success. The time covers connection, headers and body. */
export function httpProber(clock: Clock): Prober {
  return async ({ probe, container, podIp, timeoutMs }, signal) => {
    const action = probe.httpGet;
    const host = action?.host || podIp;
    if (action === undefined || host === undefined || host === '') return noAddressYet;
    const request = httpProbeRequest(action, container, host);
    if ('error' in request) return { kind: 'error', state: 'unknown', ...request };
    const progress: Progress = { phase: 'dial', hop: request.hop, ends: '' };
    try {
      return await withTimeout(clock, timeoutMs, (limit) => follow(request, progress, limit), signal);
    } catch (error) {
      signal.throwIfAborted();
      return isKind(error, 'timeout') ? timedOut(progress) : broken(progress, error);
    }
  };
}

/** Sends the request, and follows redirects within the same host. */
async function follow(request: HttpProbeRequest, progress: Progress, signal: AbortSignal): Promise<ProbeOutcome> {
  let { headers } = request;
  for (let made = 1; ; made++) {
    signal.throwIfAborted();
    progress.phase = 'dial';
    const { hop } = progress;
    const response = await ask(hop, headers, progress, signal);
    const status = response.statusCode ?? 0;
    const redirect = redirectOf(hop, status, response.headers.location);
    if (redirect.kind === 'none' || (redirect.kind === 'to' && !sameHost(request.hop, redirect.hop))) {
      return answered(status, await readBody(response, progress));
    }
    response.destroy();
    if (redirect.kind === 'broken') return failed(hop, redirect.reason);
    if (made >= maxRequests) return failed(hop, `stopped after ${maxRequests} redirects`);
    // A Host header of the probe is for its own server; the URL of an absolute redirect names the host itself.
    if (!redirect.relative) headers = new Map([...headers].filter(([name]) => name !== 'Host'));
    progress.hop = redirect.hop;
  }
}

function ask(
  hop: HttpHop,
  headers: HttpProbeRequest['headers'],
  progress: Progress,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options: RequestOptions = {
      method: 'GET',
      host: hop.hostname,
      port: hop.port,
      path: hop.target,
      headers: { Host: hop.authority, ...Object.fromEntries([...headers].map(toSend)) },
      agent: false,
      maxHeaderSize: maxHeaderBytes,
      // Small servers end header lines with a bare line feed, and are healthy all the same.
      insecureHTTPParser: true,
    };
    // The server name of the TLS handshake is that of the URL, whatever Host header the probe has.
    const servername = isIP(hop.hostname) === 0 ? hop.hostname : '';
    const request =
      hop.scheme === 'https'
        ? httpsRequest({ ...options, rejectUnauthorized: false, servername })
        : httpRequest(options);
    signal.addEventListener('abort', () => request.destroy(), { once: true });
    request.once('socket', (socket) => {
      socket.once('connect', () => {
        const { localAddress = '', localPort = 0, remoteAddress = '', remotePort = 0 } = socket;
        progress.phase = 'headers';
        progress.ends = `${hostAndPort(localAddress, localPort)}->${hostAndPort(remoteAddress, remotePort)}`;
      });
    });
    let announced = 0;
    request.on('information', () => {
      if (++announced > maxInformational) request.destroy(new Error('net/http: too many 1xx informational responses'));
    });
    request.once('response', resolve);
    // The listener stays, because errors may come after the end.
    request.on('error', reject);
    request.end();
  });
}

/** The library takes some headers, such as Host, as one text only. */
function toSend([name, values]: readonly [string, readonly string[]]): [string, string | string[]] {
  const [only, ...more] = values;
  return [name, only !== undefined && more.length === 0 ? only : [...values]];
}

async function readBody(response: IncomingMessage, progress: Progress): Promise<string> {
  progress.phase = 'body';
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    bytes += chunk.length;
    // Leaving the loop closes the connection: the rest of the body is not needed.
    if (bytes >= maxMessageBytes) break;
  }
  return outputText(...chunks);
}

function answered(status: number, body: string): ProbeOutcome {
  if (status < 200 || status >= 400) {
    return { kind: 'failure', output: `HTTP probe failed with statuscode: ${status}` };
  }
  if (status >= 300) return { kind: 'warning', output: `Probe terminated redirects, Response body: ${body}` };
  return { kind: 'success', output: body };
}

function failed({ url }: HttpHop, reason: string, unanswered = false): ProbeOutcome {
  return {
    kind: 'failure',
    output: `Get ${goQuote(cutText(url, maxUrlBytes))}: ${cutText(reason)}`,
    ...(unanswered && { unanswered }),
  };
}

function timedOut({ phase, hop }: Progress): ProbeOutcome {
  switch (phase) {
    case 'dial': {
      const reason = dialTimeout(hop.hostname, hop.port);
      return failed(hop, `${reason} (Client.Timeout exceeded while awaiting headers)`, true);
    }
    case 'headers':
      return failed(hop, 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)', true);
    case 'body': {
      const output = 'context deadline exceeded (Client.Timeout or context cancellation while reading body)';
      return { kind: 'failure', output, unanswered: true };
    }
    default:
      return phase satisfies never;
  }
}

function broken({ phase, hop, ends }: Progress, error: unknown): ProbeOutcome {
  // The status was received but the body was lost, so it is an error, and is tried again.
  if (phase === 'body') return { kind: 'error', state: 'failure', error: 'unexpected EOF' };
  const code = codeOf(error);
  // The library refuses to send a header that is not valid.
  if (code?.startsWith('ERR_INVALID_') === true) return failed(hop, `net/http: ${messageOf(error)}`);
  if (phase === 'dial') return failed(hop, dialFailure(hop.hostname, hop.port, error));
  if (messageOf(error) === 'socket hang up') return failed(hop, 'EOF', true);
  const tlsReason = /SSL routines:[^:]*:([^:]+)/.exec(messageOf(error))?.[1];
  if (tlsReason === 'wrong version number') return failed(hop, 'http: server gave HTTP response to HTTPS client');
  if (tlsReason !== undefined) return failed(hop, `tls: ${tlsReason}`);
  if (code?.startsWith('HPE_') === true) {
    return failed(hop, `net/http: HTTP/1.x transport connection broken: malformed HTTP response: ${messageOf(error)}`);
  }
  const text = errnoText(code);
  if (text !== undefined) return failed(hop, `read tcp ${ends}: read: ${text}`, true);
  return failed(hop, messageOf(error));
}
