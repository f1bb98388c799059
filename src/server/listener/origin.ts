import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether a page of another origin asks, in a browser that shows its user's certificate to every page that connects
 * here. Browsers say of upgrades and of what is more than reading where it comes from; other clients do not. What an API
 * server passes on says it too, when a browser is at its other end, and who it passed it on for, which no page can write.
 */
export function isForeignPage(method: string, isUpgrade: boolean, headers: IncomingHttpHeaders): boolean {
  const { origin, host } = headers;
  if (origin === undefined || headers['x-forwarded-for'] !== undefined) return false;
  if (!isUpgrade && (method === 'GET' || method === 'HEAD')) return false;
  if (host === undefined || !URL.canParse(origin) || !URL.canParse(`https://${host}`)) return true;
  return new URL(origin).host !== new URL(`https://${host}`).host;
}
