import type { IncomingHttpHeaders } from 'node:http';
import type { Credentials } from '../auth/ports.ts';
import type { Peer } from './exchange.ts';

const subprotocolHeader = 'sec-websocket-protocol';
/** Browsers cannot set headers of a websocket but this one. */
const tokenProtocol = 'base64url.bearer.authorization.k8s.io.';

type ShownByPeer = Pick<Peer, 'address' | 'chain' | 'tlsVerdict'>;

export interface CredentialSplit {
  /** `bad`: a token that cannot be read; its sender is refused, not taken for anonymous. */
  readonly credentials: Credentials | 'bad';
  /** Without credentials. */
  readonly headers: IncomingHttpHeaders;
}

/** Takes the credentials out of the headers: handlers and the runtime's streaming server must not see them. */
export function splitCredentials(headers: IncomingHttpHeaders, peer: ShownByPeer): CredentialSplit {
  const { authorization, ...rest } = headers;
  const bearer = bearerOf(authorization);
  const { address, chain, tlsVerdict } = peer;
  const shown = { address, ...(chain.length > 0 && { chain, tlsVerdict }) };
  const offered = rest[subprotocolHeader];
  if (typeof offered !== 'string') return { credentials: { ...shown, bearer }, headers: rest };

  const protocols = offered.split(',').map((protocol) => protocol.trim());
  const tokens = protocols.filter((protocol) => protocol.startsWith(tokenProtocol));
  if (tokens.length === 0) return { credentials: { ...shown, bearer }, headers: rest };
  const others = protocols.filter((protocol) => !protocol.startsWith(tokenProtocol));
  const { [subprotocolHeader]: _offered, ...bare } = rest;
  const remaining = others.length === 0 ? bare : { ...bare, [subprotocolHeader]: others.join(', ') };
  if (bearer !== undefined || !isWebSocket(headers)) return { credentials: { ...shown, bearer }, headers: remaining };
  const token = decodeToken(tokens, others.length);
  return { credentials: token === undefined ? 'bad' : { ...shown, bearer: token }, headers: remaining };
}

function bearerOf(authorization: string | undefined): string | undefined {
  const [scheme = '', token = ''] = (authorization ?? '').trim().split(' ');
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined;
}

function isWebSocket({ connection = '', upgrade = '' }: IncomingHttpHeaders): boolean {
  const words = connection.split(',').map((word) => word.trim().toLowerCase());
  return words.includes('upgrade') && upgrade.toLowerCase() === 'websocket';
}

/** One token, and a protocol to speak besides it: the server must name one in its answer, and never the token. */
function decodeToken(tokens: readonly string[], others: number): string | undefined {
  const [encoded = ''] = tokens.map((token) => token.slice(tokenProtocol.length));
  if (tokens.length > 1 || others === 0 || !/^[A-Za-z0-9_-]+$/.test(encoded) || encoded.length % 4 === 1)
    return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(encoded, 'base64url'));
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
