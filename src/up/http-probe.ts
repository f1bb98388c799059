import { get } from 'node:http';
import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';

interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

const maxBytes = 16 * 1024 * 1024;

/** One GET with a deadline, over the network or a unix socket. */
export function httpGet(url: string, clock: Clock, timeoutMs: number, socketPath?: string): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false, ...(socketPath !== undefined && { socketPath }) }, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxBytes) request.destroy(new TubeletError('exhausted', `${url} answers without end`));
        else chunks.push(chunk);
      });
      response.once('end', () =>
        settle(() => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') })),
      );
      response.once('error', (error) => settle(() => reject(error)));
    });
    const cancel = clock.after(timeoutMs, () => request.destroy(new TubeletError('timeout', `${url} does not answer`)));
    const settle = (act: () => void): void => {
      cancel();
      act();
    };
    request.once('error', (error) => settle(() => reject(error)));
  });
}
