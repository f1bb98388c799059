import { isIPv6 } from 'node:net';
import { cutText } from '../../base/cut-text.ts';
import type { Container, LifecycleHandler } from '../../gen/kubernetes/types.ts';

export interface HookRequest {
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Limit of a URL in a message. */
const maxShownBytes = 1_024;
const userAgent = 'kube-lifecycle/1.34';

/** The request of an httpGet hook, or why there cannot be one. */
export function computeHookRequest(input: {
  readonly handler: LifecycleHandler;
  readonly container: Container;
  readonly podIp: string;
}): HookRequest | { readonly problem: string } {
  const { httpGet } = input.handler;
  if (httpGet === undefined) return { problem: 'the hook is no httpGet' };
  const host = httpGet.host || input.podIp;
  if (host === '') return { problem: 'failed to find networking container: the pod has no address' };
  const port = portNumber(httpGet.port, input.container);
  if (port === undefined) return { problem: `the container has no port "${httpGet.port}"` };
  const scheme = (httpGet.scheme ?? 'HTTP').toLowerCase();
  if (scheme !== 'http' && scheme !== 'https') {
    return { problem: `unsupported protocol scheme ${JSON.stringify(cutText(scheme, maxShownBytes))}` };
  }
  const path = httpGet.path ?? '';
  const url = `${scheme}://${isIPv6(host) ? `[${host}]` : host}:${port}${path.startsWith('/') ? path : `/${path}`}`;
  // The API takes any text for a host.
  if (!URL.canParse(url) || new URL(url).hostname === '') {
    return { problem: `invalid URL ${JSON.stringify(cutText(url, maxShownBytes))}` };
  }
  const given = (httpGet.httpHeaders ?? []).map(({ name, value }) => [name, value] as const);
  const has = (wanted: string): boolean => given.some(([name]) => name.toLowerCase() === wanted);
  const headers = [
    ...given,
    ...(has('user-agent') ? [] : [['User-Agent', userAgent] as const]),
    ...(has('accept') ? [] : [['Accept', '*/*'] as const]),
  ].filter(([name, value]) => !(name.toLowerCase() === 'accept' && value === ''));
  return { url, headers };
}

/** A port by number, or by its name among the container's ports. */
function portNumber(port: number | string, container: Container): number | undefined {
  const number = Number(port);
  if (Number.isInteger(number) && number > 0 && number < 65_536) return number;
  return container.ports?.find(({ name }) => name === port)?.containerPort;
}
