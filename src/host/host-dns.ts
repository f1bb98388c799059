import { readFile } from 'node:fs/promises';
import { parseResolvConf, type HostDns } from '../model/dns.ts';

/**
 * The host's resolver configuration. An empty path means that pods must not use the host's: they get an address without
 * a server.
 */
export async function readHostDns(path: string): Promise<HostDns> {
  if (path === '') return { servers: ['127.0.0.1'], searches: ['.'], options: [] };
  return parseResolvConf(await readFile(path, 'utf8'));
}
