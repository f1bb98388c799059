import { readFile } from 'node:fs/promises';
import { request as plainRequest, type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { Masked } from '../base/masked.ts';

/** Header → values. They may be credentials. */
type HttpHeaders = Masked<Readonly<Record<string, readonly string[]>>>;

interface HostHttpAnswer {
  readonly status: number;
  readonly location: string | undefined;
  /** Throws when the body ends before its end. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends the connection; to be called however much of the body was read. */
  close(): void;
}

/** Where distributions keep the certificates that the whole machine trusts. */
const systemRoots: readonly string[] = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/pki/tls/cacert.pem',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/cert.pem',
];
/** Headers of the connection itself; a configured value would break the request. */
const ownHeaders: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'trailer',
  'connection',
]);
const userAgent = 'tubelet';

/** HTTP of this machine. An https server's certificate must be trusted by the machine, not only by Node's builders. */
export const nodeHttp = {
  /** One GET without redirects; the signal ends it at any point, also while the body is read. */
  async get(url: URL, headers: HttpHeaders, signal: AbortSignal): Promise<HostHttpAnswer> {
    const options = { agent: false, signal, headers: sentHeaders(headers.reveal()) } as const;
    if (url.protocol !== 'https:') return answerOf(plainRequest(url, options));
    const ca = await machineRoots();
    return answerOf(secureRequest(url, ca === undefined ? options : { ...options, ca }));
  },
};

function sentHeaders(given: Readonly<Record<string, readonly string[]>>): OutgoingHttpHeaders {
  const sent: Record<string, string | string[]> = {};
  for (const [name, values] of Object.entries(given)) {
    if (!ownHeaders.has(name.toLowerCase())) sent[name] = [...values];
  }
  const named = Object.keys(sent).some((name) => name.toLowerCase() === 'user-agent');
  return named ? sent : { 'User-Agent': userAgent, ...sent };
}

/** The machine's certificates; undefined where it has none, so that Node's own are used. */
async function machineRoots(): Promise<string | undefined> {
  const chosen = process.env['SSL_CERT_FILE'];
  if (chosen !== undefined && chosen !== '') return readFile(chosen, 'utf8');
  for (const path of systemRoots) {
    try {
      return await readFile(path, 'utf8');
    } catch {
      // Each distribution has one of the paths at most, so most of them are not there.
    }
  }
  return undefined;
}

function answerOf(request: ClientRequest): Promise<HostHttpAnswer> {
  return new Promise((resolve, reject) => {
    // Attached for the whole life of the request: an error without a listener ends the process.
    request.on('error', reject);
    request.once('response', (response: IncomingMessage) => {
      resolve({
        status: response.statusCode ?? 0,
        location: response.headers.location,
        body: response,
        close: () => {
          response.once('error', () => {
            // The agent itself closes early; a connection error after that is of no interest.
          });
          response.destroy();
        },
      });
    });
    request.end();
  });
}
