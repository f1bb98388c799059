import { request } from 'node:https';

const timeoutMs = 5_000;

/** The answer of a server whose certificate comes from our authority. */
export function httpsGet(url: string, authority: Buffer): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const options = { ca: authority, agent: false, signal: AbortSignal.timeout(timeoutMs) };
    const outgoing = request(url, options, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('error', reject).on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    outgoing.on('error', reject).end();
  });
}

/** It answers 200; not yet, when nobody listens. */
export async function isHealthy(url: string, authority: Buffer): Promise<boolean> {
  return (await httpsGet(url, authority)).status === 200;
}
