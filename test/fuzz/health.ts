import type { ListenerName } from '../../src/server/route.ts';
import { say, stay, type FuzzCase } from './case.ts';
import { play } from './client.ts';
import type { FuzzWorld } from './world.ts';

const pages: readonly (readonly [listener: ListenerName, path: string])[] = [
  ['secure', '/healthz'],
  ['readOnly', '/healthz'],
  ['healthz', '/healthz'],
  ['secure', '/pods'],
  ['secure', '/stats/summary'],
];

/** A request as anybody should send it. */
export function wellBehaved(listener: ListenerName, path: string): FuzzCase {
  return {
    kind: 'health',
    listener,
    tls: listener === 'secure' ? { alpn: ['http/1.1'], certificate: 'admin' } : undefined,
    protocol: 'http1',
    steps: [say(`GET ${path} HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n`)],
    leave: stay,
    entry: 'admin',
    methods: ['GET'],
  };
}

/** What is wrong with the answers to those who are well-behaved. */
export async function judgeHealth(world: FuzzWorld, limitMs: number): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [listener, path] of pages) {
    const heard = await play(world, wellBehaved(listener, path));
    const answer = heard.bytes.toString('latin1');
    const which = `${path} of ${listener}`;
    if (!answer.startsWith('HTTP/1.1 200 ')) problems.push(`${which} is not well any more: ${answer.slice(0, 300)}`);
    else if (heard.ms > limitMs) problems.push(`${which} took ${Math.round(heard.ms)} ms`);
  }
  return problems;
}
