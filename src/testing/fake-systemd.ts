import { TubeletError } from '../base/errors.ts';
import type { SystemdUnits, UnitProperty, UnitValue } from '../model/systemd-units.ts';

interface SystemdCall {
  readonly verb: 'startTransientUnit' | 'setUnitProperties' | 'stopUnit';
  readonly unit: string;
  readonly properties: readonly UnitProperty[];
}

/** What goes wrong with a call. `done` says whether systemd did the work all the same. */
type SystemdFault =
  | { readonly kind: 'result'; readonly result: string }
  | { readonly kind: 'timeout' | 'busLost'; readonly done: boolean }
  | { readonly kind: 'refused'; readonly message: string };

/** Where the cgroups of slices are; a `MemoryCgroupTree` is one. */
interface SliceTree {
  make(path: string): void;
  children(path: string): readonly string[];
  remove(path: string): Promise<unknown>;
}

/** systemd's slices in memory: each with its properties, below the slices that its name implies. */
export class FakeSystemd implements SystemdUnits {
  readonly slices = new Map<string, Map<string, UnitValue['value']>>();
  /** Properties of slices that are not active: systemd keeps them, and they win over those that the slice is made with. */
  readonly inactive = new Map<string, Map<string, UnitValue['value']>>();
  /** All calls, in order. */
  readonly calls: SystemdCall[] = [];
  systemdVersion: number | undefined = 252;
  /** Answers what goes wrong with a call. */
  fault: (call: SystemdCall) => SystemdFault | undefined = () => undefined;
  /** Holds calls up until it is done. */
  working: Promise<void> = Promise.resolve();
  readonly #tree: SliceTree | undefined;

  constructor(tree?: SliceTree) {
    this.#tree = tree;
  }

  async version(): Promise<number | undefined> {
    return this.systemdVersion;
  }

  async startTransientUnit(unit: string, properties: readonly UnitProperty[]): Promise<'started' | 'existed'> {
    return this.#call(
      { verb: 'startTransientUnit', unit, properties },
      `Timeout waiting for systemd to create ${unit}`,
      () => {
        if (this.slices.has(unit)) return 'existed';
        // systemd starts the slices around a slice with it.
        const kept = this.inactive.get(unit) ?? [];
        for (const name of sliceAndParents(unit)) {
          if (!this.slices.has(name)) this.slices.set(name, new Map(this.inactive.get(name)));
          this.inactive.delete(name);
        }
        this.#set(unit, properties);
        for (const [name, value] of kept) this.slices.get(unit)?.set(name, value);
        this.#tree?.make(slicePath(unit));
        return 'started';
      },
    );
  }

  async setUnitProperties(unit: string, properties: readonly UnitProperty[]): Promise<void> {
    await this.#call(
      { verb: 'setUnitProperties', unit, properties },
      `unable to set unit properties: timed out`,
      () => {
        if (!this.slices.has(unit) && !this.inactive.has(unit)) this.inactive.set(unit, new Map());
        this.#set(unit, properties);
        // It makes the cgroup of one that is not active, too.
        this.#tree?.make(slicePath(unit));
      },
    );
  }

  async stopUnit(unit: string): Promise<void> {
    const late = `Timed out while waiting for systemd to remove ${unit}`;
    await this.#call({ verb: 'stopUnit', unit, properties: [] }, late, async () => {
      for (const name of this.slices.keys()) {
        if (name === unit || sliceAndParents(name).includes(unit)) this.slices.delete(name);
      }
      // A cgroup that another program made something below of stays.
      const path = slicePath(unit);
      if (this.#tree?.children(path).length === 0) await this.#tree.remove(path);
    });
  }

  #set(unit: string, properties: readonly UnitProperty[]): void {
    for (const { name, value } of properties)
      (this.slices.get(unit) ?? this.inactive.get(unit))?.set(name, value.value);
  }

  async #call<T>(call: SystemdCall, late: string, work: () => T | Promise<T>): Promise<T> {
    this.calls.push(call);
    await this.working;
    const fault = this.fault(call);
    if (fault === undefined) return work();
    if (fault.kind === 'refused') throw new TubeletError('internal', fault.message);
    if (fault.kind === 'result') {
      // A stop that did not end well is a warning in the log, no more.
      if (call.verb === 'stopUnit') return work();
      throw new TubeletError('internal', `error creating systemd unit \`${call.unit}\`: got \`${fault.result}\``);
    }
    if (fault.done) await work();
    throw fault.kind === 'timeout'
      ? new TubeletError('timeout', late)
      : new TubeletError('unavailable', 'the connection to the bus was lost');
  }
}

/** `a-b.slice` is below `a.slice`. */
function sliceAndParents(unit: string): readonly string[] {
  const parts = unit.replace(/\.slice$/, '').split('-');
  return parts.map((_, index) => `${parts.slice(0, index + 1).join('-')}.slice`);
}

function slicePath(unit: string): string {
  return `/${sliceAndParents(unit).join('/')}`;
}
