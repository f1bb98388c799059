import type { Pod } from '../../../../src/gen/kubernetes/types.ts';
import { until } from '../../../support/real-wait.ts';
import type { Namespace } from '../cluster-view.ts';
import type { Held, NodeLook } from '../swap/node-look.ts';

/** What must not change of a pod that nothing happens to: who runs, how often it was started, since when it is ready. */
export function portraitOf({ metadata, status }: Pod): unknown {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return {
    name: metadata?.name,
    uid: metadata?.uid,
    ready: [ready?.status, ready?.lastTransitionTime],
    containers: status?.containerStatuses?.map(({ name, containerID, restartCount }) => [
      name,
      containerID,
      restartCount,
    ]),
  };
}

/** The containers of one namespace in the runtime. */
export class RuntimeOf {
  readonly #look: NodeLook;
  readonly #namespace: string;

  constructor(look: NodeLook, { name }: Pick<Namespace, 'name'>) {
    this.#look = look;
    this.#namespace = name;
  }

  /** Running ones by `pod/container`, those of pods whose names begin so. */
  async running(prefix = ''): Promise<ReadonlyMap<string, string>> {
    const all = await this.#ours();
    const wanted = all.filter(({ owner, running }) => running && owner.startsWith(prefix));
    return new Map(wanted.map(({ owner, id }) => [owner, id]));
  }

  /** The newest instance of a pod's main container. */
  async newest(pod: string): Promise<Held> {
    const all = (await this.#ours()).filter(({ owner }) => owner === `${pod}/main`);
    const last = all.toSorted((one, other) => other.attempt - one.attempt)[0];
    if (last === undefined) throw new Error(`no container of ${pod}`);
    return last;
  }

  /** That instance once it runs, after so many others. */
  runsAgain(pod: string, attempt: number): Promise<Held> {
    const look = async (): Promise<Held | false> => {
      const held = await this.newest(pod);
      return held.attempt >= attempt && held.running && held;
    };
    const state = (): Promise<Held> => this.newest(pod);
    return until(`${pod} runs again`, look, { timeoutMs: 60_000, state });
  }

  /** Nothing is left of a pod. */
  gone(uid: string): Promise<true> {
    const left = async (): Promise<readonly Held[]> => {
      const all = [...(await this.#look.containers()), ...(await this.#look.sandboxes())];
      return all.filter(({ podUid }) => podUid === uid);
    };
    return until(`nothing is left of ${uid}`, async () => (await left()).length === 0 && true, {
      timeoutMs: 60_000,
      state: left,
    });
  }

  async #ours(): Promise<readonly Held[]> {
    const all = await this.#look.containers();
    const prefix = `${this.#namespace}/`;
    return all
      .filter(({ owner }) => owner.startsWith(prefix))
      .map((held) => ({ ...held, owner: held.owner.slice(prefix.length) }));
  }
}
