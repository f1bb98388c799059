import type { ContainerId } from '../../base/ids.ts';
import type { ProbeType, ProbeVerdict } from './ports.ts';

type Verdicts = Partial<Record<ProbeType, ProbeVerdict>>;

/**
 * The results in force of each probed container instance. Where there is no probe of a kind there is no result, and the
 * container counts as healthy, ready and started.
 *
 * A status may ask for an instance before its worker has seen it: right after a start the pod's status is generated first.
 * `catchUp` lets the workers reconcile before the answer, so that no container counts as ready without a result.
 */
export class ProbeResults {
  readonly #verdicts = new Map<ContainerId, Verdicts>();
  readonly #catchUp: () => void;

  constructor(catchUp: () => void = () => {}) {
    this.#catchUp = catchUp;
  }

  get size(): number {
    return this.#verdicts.size;
  }

  liveness(id: ContainerId): ProbeVerdict {
    return this.#of(id).Liveness ?? 'success';
  }

  startup(id: ContainerId): ProbeVerdict {
    return this.#of(id).Startup ?? 'success';
  }

  started(_containerName: string, id: ContainerId): boolean {
    return this.startup(id) === 'success';
  }

  ready(containerName: string, id: ContainerId): boolean {
    return this.started(containerName, id) && (this.#of(id).Readiness ?? 'success') === 'success';
  }

  /** Without catching up: for the workers themselves. */
  hasStarted(id: ContainerId): boolean {
    return (this.#verdicts.get(id)?.Startup ?? 'success') === 'success';
  }

  set(id: ContainerId, type: ProbeType, verdict: ProbeVerdict): void {
    this.#verdicts.set(id, { ...this.#verdicts.get(id), [type]: verdict });
  }

  /** Forgets one kind of verdict; an instance without any is forgotten as a whole. */
  remove(id: ContainerId, type: ProbeType): void {
    const { [type]: _removed, ...others } = this.#verdicts.get(id) ?? {};
    if (Object.keys(others).length === 0) this.#verdicts.delete(id);
    else this.#verdicts.set(id, others);
  }

  #of(id: ContainerId): Verdicts {
    const known = this.#verdicts.get(id);
    if (known !== undefined) return known;
    this.#catchUp();
    return this.#verdicts.get(id) ?? {};
  }
}
