import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { HookRequest } from './compute-hook-request.ts';
import type { HookAnswer, HookRequests } from './run-hook.ts';

/** What a TLS client says when the other side answers in plain HTTP. */
const plainHttpCodes: ReadonlySet<string> = new Set([
  'EPROTO',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
]);

/** Limit of 1xx responses before the answer, as in Go's client. */
const maxInformational = 5;
/** How much of a body is read although no hook uses it, so that a small server can finish its response. */
const maxDrainedBytes = 10 * 1_024;
const maxDrainedPieces = 16;
const maxDrainPauseMs = 1_000;

/** Sends hook requests from the node: one connection each, certificates not checked, redirects not followed. */
export const nodeHookRequests: HookRequests = {
  send: (hook, signal) => send(hook, signal),
};

function send({ url, headers }: HookRequest, signal: AbortSignal): Promise<HookAnswer> {
  const secure = url.startsWith('https:');
  const request = secure ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        headers: Object.fromEntries(headers),
        agent: false,
        signal,
        // Small servers end header lines with a bare line feed; a strict parser would fail their hooks.
        insecureHTTPParser: true,
        ...(secure && { rejectUnauthorized: false }),
      },
      (response) => {
        // The hook is over with the headers: neither status nor body decides whether it succeeded.
        resolve({ status: response.statusCode ?? 0 });
        drain(response);
      },
    );
    let announced = 0;
    sent.on('information', () => {
      if (++announced > maxInformational) sent.destroy(new Error('net/http: too many 1xx informational responses'));
    });
    // The listener stays, because errors may come after the answer.
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (secure && plainHttpCodes.has(error.code ?? '')) resolve({ plainHttp: true });
      else reject(error);
    });
    sent.end();
  });
}

/** Reads a short body to its end; the connection of one that is long, slow or endless is closed. */
function drain(response: IncomingMessage): void {
  let bytes = 0;
  let pieces = 0;
  response.on('data', (piece: Uint8Array) => {
    bytes += piece.length;
    if (bytes > maxDrainedBytes || ++pieces > maxDrainedPieces) response.destroy();
  });
  response.setTimeout(maxDrainPauseMs, () => response.destroy());
  response.on('error', () => {
    // The hook has succeeded; an error at the end of the connection does not change that.
  });
}
