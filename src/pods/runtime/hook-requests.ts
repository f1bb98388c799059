import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { HookRequest } from './compute-hook-request.ts';
import type { HookAnswer, HookRequests } from './run-hook.ts';

/** What a TLS client says when the other side answers in plain HTTP. */
const plainHttpCodes: ReadonlySet<string> = new Set([
  'EPROTO',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
]);

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
        // Small servers end header lines with a bare line feed; containers are not here to be taught HTTP.
        insecureHTTPParser: true,
        ...(secure && { rejectUnauthorized: false }),
      },
      (response) => {
        // Whatever it says, it has been told.
        response.resume();
        response.once('end', () => resolve({ status: response.statusCode ?? 0 }));
        response.once('error', reject);
      },
    );
    sent.once('error', (error: NodeJS.ErrnoException) => {
      if (secure && plainHttpCodes.has(error.code ?? '')) resolve({ plainHttp: true });
      else reject(error);
    });
    sent.end();
  });
}
