import type { Reflector } from '../src/apiserver/index.ts';
import type { Pod } from '../src/gen/kubernetes/types.ts';

/** The present moment in milliseconds with a fraction, comparable with the times in an agent's log. */
export const wallMs = (): number => performance.timeOrigin + performance.now();

interface Waiting {
  readonly namespace: string;
  readonly name: string;
  readonly until: 'ready' | 'gone';
  readonly tell: (atMs: number) => void;
}

/** When a watch showed what is waited for. */
export class PodTimes {
  readonly #pods: Reflector<Pod>;
  readonly #waiting = new Set<Waiting>();

  constructor(pods: Reflector<Pod>) {
    this.#pods = pods;
    pods.listen(() => this.#look());
  }

  /** Of a pod that is about to be made. */
  ready(namespace: string, name: string): Promise<number> {
    return this.#when(namespace, name, 'ready');
  }

  /** Of a pod that is there and about to be deleted. */
  gone(namespace: string, name: string): Promise<number> {
    return this.#when(namespace, name, 'gone');
  }

  #when(namespace: string, name: string, until: Waiting['until']): Promise<number> {
    return new Promise((tell) => void this.#waiting.add({ namespace, name, until, tell }));
  }

  #look(): void {
    const atMs = wallMs();
    for (const waiting of this.#waiting) {
      const pod = this.#pods.get(waiting);
      if (waiting.until === 'gone' ? pod !== undefined : !isReady(pod)) continue;
      this.#waiting.delete(waiting);
      waiting.tell(atMs);
    }
  }
}

function isReady(pod: Pod | undefined): boolean {
  return pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
}
