import { request } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { TubeletError } from '../../base/errors.ts';
import { abortError } from './network-error.ts';

type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for a server: `proxy-url` of the kubeconfig, else HTTPS_PROXY unless NO_PROXY names the server. Loopback is
 * address never uses a proxy from the environment.
 */
export function chooseProxy(server: URL, proxyUrl: string | undefined, environment: ProxyEnvironment): URL | undefined {
  if (proxyUrl !== undefined) return checkedProxy(proxyUrl, 'proxy-url of the kubeconfig');
  const names = server.protocol === 'https:' ? ['HTTPS_PROXY', 'https_proxy'] : ['HTTP_PROXY', 'http_proxy'];
  const name = names.find((candidate) => (environment[candidate] ?? '') !== '');
  if (name === undefined) return undefined;
  const host = server.hostname.replaceAll(/^\[|\]$/g, '');
  if (isLoopback(host) || isExcluded(host, server.port, environment['NO_PROXY'] ?? environment['no_proxy'] ?? '')) {
    return undefined;
  }
  const value = environment[name] ?? '';
  return checkedProxy(value.includes('://') ? value : `http://${value}`, `the variable ${name}`);
}

function checkedProxy(text: string, where: string): URL {
  // The text may hold a password, so it is not repeated.
  if (!URL.canParse(text)) throw new TubeletError('invalid', `${where} is not a URL such as http://proxy:3128`);
  const url = new URL(text);
  if (url.protocol === 'http:') return url;
  const scheme = url.protocol.slice(0, -1);
  throw new TubeletError(
    'unsupported',
    `${where}: ${scheme} proxies are not supported; use one with an http:// address`,
  );
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** Entries: `*`, a host, a domain (with or without a leading dot), an address, a CIDR; each may end in a port. */
export function isExcluded(host: string, port: string, noProxy: string): boolean {
  return noProxy
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '')
    .some((entry) => entry === '*' || matches(entry, host.toLowerCase(), port));
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry.includes('/')) return isWithin(host, entry);
  const withPort = isIP(entry) === 0 ? /^(.*):(\d+)$/.exec(entry) : null;
  if (withPort !== null && withPort[2] !== (port === '' ? '443' : port)) return false;
  const name = (withPort?.[1] ?? entry).replaceAll(/^\[|\]$/g, '').replace(/^\*?\./, '');
  if (isIP(name) !== 0) return name === host;
  return host === name || host.endsWith(`.${name}`);
}

function isWithin(host: string, cidr: string): boolean {
  const [network = '', bits = ''] = cidr.split('/');
  const family = isIP(network);
  if (family === 0 || isIP(host) !== family || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128))
    return false;
  const list = new BlockList();
  const type = family === 4 ? 'ipv4' : 'ipv6';
  list.addSubnet(network, Number(bits), type);
  return list.check(host, type);
}

/** A connection to the server through the proxy, by CONNECT. */
export function openTunnel(proxy: URL, host: string, port: number, signal: AbortSignal): Promise<Duplex> {
  const target = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const user = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return new Promise((resolve, reject) => {
    const asked = request({
      host: proxy.hostname.replaceAll(/^\[|\]$/g, ''),
      port: proxy.port === '' ? 80 : Number(proxy.port),
      method: 'CONNECT',
      path: target,
      agent: false,
      signal,
      headers: {
        host: target,
        ...(proxy.username !== '' && { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` }),
      },
    });
    asked.once('connect', ({ statusCode }, socket) => {
      if (statusCode === 200) {
        resolve(socket);
        return;
      }
      socket.destroy();
      reject(refusal(proxy, target, statusCode));
    });
    asked.once('response', (answer) => {
      answer.resume();
      reject(refusal(proxy, target, answer.statusCode));
    });
    asked.once('error', (error) => {
      if (signal.aborted) reject(abortError(signal));
      else reject(new TubeletError('unavailable', `proxy ${proxy.host}: ${error.message}`, { cause: error }));
    });
    asked.end();
  });
}

function refusal(proxy: URL, target: string, status: number | undefined): TubeletError {
  return new TubeletError('unavailable', `proxy ${proxy.host} refuses to connect to ${target}: HTTP status ${status}`);
}
