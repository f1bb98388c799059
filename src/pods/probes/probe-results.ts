import type { ContainerId } from '../../base/ids.ts';
import type { ProbeType, ProbeResult } from './ports.ts';

type InstanceResults = Partial<Record<ProbeType, ProbeResult>>;

/**
 * The results in force of each probed container instance. Where there is no probe of a kind there is no result, and the
 * container counts as healthy, ready and started.
 *
 * A status may ask for an instance before its worker has seen it: right after a start the pod's status is generated first.
 * `catchUp` lets the workers reconcile before the answer, so that no container counts as ready without a result.
 */
export class ProbeResults {
  readonly #results = new Map<ContainerId, InstanceResults>();
  readonly #catchUp: () => void;

  constructor(catchUp: () => void = () => {}) {
    this.#catchUp = catchUp;
  }

  get size(): number {
    return this.#results.size;
  }

  liveness(id: ContainerId): ProbeResult {
    return this.#of(id).Liveness ?? 'success';
  }

  startup(id: ContainerId): ProbeResult {
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
    return (this.#results.get(id)?.Startup ?? 'success') === 'success';
  }

  set(id: ContainerId, type: ProbeType, result: ProbeResult): void {
    this.#results.set(id, { ...this.#results.get(id), [type]: result });
  }

  /** Forgets the result of one kind of probe; an instance without any is forgotten as a whole. */
  remove(id: ContainerId, type: ProbeType): void {
    const { [type]: _removed, ...others } = this.#results.get(id) ?? {};
    if (Object.keys(others).length === 0) this.#results.delete(id);
    else this.#results.set(id, others);
  }

  #of(id: ContainerId): InstanceResults {
    const known = this.#results.get(id);
    if (known !== undefined) return known;
    this.#catchUp();
    return this.#results.get(id) ?? {};
  }
}
