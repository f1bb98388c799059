import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { createInterface } from 'node:readline';
import type { Pod } from '../../../../src/gen/kubernetes/types.ts';
import type { ControlPlane } from '../control-plane.ts';

interface PodVersion {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: Pod;
}

export const nameOf = ({ metadata }: Pod): string => `${metadata?.namespace}/${metadata?.name}`;

/** Every version of every pod that the API server ever had since the watch began, in order. */
export class PodWatch {
  readonly #versions: PodVersion[] = [];
  readonly #stream: IncomingMessage;
  #broken: string | undefined;

  constructor(stream: IncomingMessage) {
    this.#stream = stream;
    const lines = createInterface({ input: stream });
    lines.on('line', (line) => {
      const version = JSON.parse(line) as PodVersion;
      if (/^(ADDED|MODIFIED|DELETED)$/.test(version.type)) this.#versions.push(version);
      else this.#broken ??= line;
    });
    lines.on('close', () => (this.#broken ??= 'the stream ended'));
    stream.on('error', (error) => (this.#broken ??= error.message));
  }

  /** Before any pod is there, so that nothing came before. */
  static async open(plane: ControlPlane): Promise<PodWatch> {
    const { certificate, key } = await plane.authority.issue('pod-watch', { user: 'watch', group: 'system:masters' });
    const options = { ca: plane.authority.pem, cert: readFileSync(certificate), key: readFileSync(key), agent: false };
    const stream = await new Promise<IncomingMessage>((resolve, reject) => {
      request(`${plane.url}/api/v1/pods?watch=true&resourceVersion=0`, options, resolve).on('error', reject).end();
    });
    if (stream.statusCode !== 200) throw new Error(`the API server answered ${stream.statusCode}`);
    return new PodWatch(stream);
  }

  get length(): number {
    return this.#versions.length;
  }

  /** Those of one pod, or all, that came after the first `since` of all. */
  versions(name?: string, since = 0): readonly PodVersion[] {
    if (this.#broken !== undefined) throw new Error(`the watch is broken: ${this.#broken}`);
    return this.#versions.slice(since).filter(({ object }) => name === undefined || nameOf(object) === name);
  }

  /** Pods that are there, as they are. */
  now(): ReadonlyMap<string, Pod> {
    const all = new Map<string, Pod>();
    for (const { type, object } of this.versions()) {
      if (type === 'DELETED') all.delete(nameOf(object));
      else all.set(nameOf(object), object);
    }
    return all;
  }

  close(): void {
    this.#broken ??= 'it was closed';
    this.#stream.destroy();
  }
}
