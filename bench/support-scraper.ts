import { Agent, request } from 'node:https';
import type { AgentServer } from './support-pods-cluster.ts';

export interface Answer {
  readonly body: Buffer;
  readonly bytes: number;
  readonly ms: number;
}

/** A client whose connection stays. */
export class Scraper {
  readonly #origin: string;
  readonly #agent: Agent;

  constructor({ origin, cert, key }: AgentServer) {
    this.#origin = origin;
    // An agent vouches for itself unless it is told to have a certificate issued.
    this.#agent = new Agent({ cert, key, rejectUnauthorized: false, keepAlive: true });
  }

  get(path: string): Promise<Answer> {
    const beganMs = performance.now();
    return new Promise((resolve, reject) => {
      const outgoing = request(`${this.#origin}${path}`, { agent: this.#agent }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => void parts.push(part)).on('error', reject);
        response.on('end', () => {
          const body = Buffer.concat(parts);
          if (response.statusCode === 200) resolve({ body, bytes: body.length, ms: performance.now() - beganMs });
          else reject(new Error(`${path}: ${response.statusCode} ${body.toString('utf8').slice(0, 500)}`));
        });
      });
      outgoing.on('error', reject).end();
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
