import { grpcErrorText, isKind, TubeletError } from '../../base/errors.ts';
import type { PodFields } from '../../model/pod-log.ts';
import { text, type HandOver, type Page } from '../route.ts';

/** The runtime drops sessions that no client connects to after this long, and then has room again. */
const retryAfterSeconds = 60;

/** The answer to a client whose session could not be made. */
export function errorPage(error: unknown): Page {
  const words = grpcErrorText(error);
  // Clients know these two; whatever else it is, is an error.
  if (isKind(error, 'notFound')) return text(404, words);
  if (isKind(error, 'exhausted')) {
    return { ...text(429, words), headers: { 'Retry-After': String(retryAfterSeconds) } };
  }
  return text(500, words);
}

export const upgradeRequired: Page = text(400, 'Upgrade request required');

/** The connection goes to the address that the runtime has given. */
export function handOverTo(url: string, about: PodFields): HandOver {
  if (!URL.canParse(url)) throw new TubeletError('internal', 'the container runtime gave no address of the session');
  return { kind: 'handOver', to: new URL(url), about };
}
