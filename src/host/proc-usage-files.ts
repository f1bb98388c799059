import { readdirSync, readlinkSync, statSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { readPseudoFile, readOptional } from './proc-usage-file.ts';
import { openFilesLimit } from './proc-usage-text.ts';

interface OpenFiles {
  readonly fileDescriptors: number;
  /** Undefined until the sockets were counted for the first time. */
  readonly sockets: number | undefined;
  /** Of the first process; -1 for none. */
  readonly openFilesSoftLimit: number | undefined;
}

interface Counted extends Pick<OpenFiles, 'sockets' | 'openFilesSoftLimit'> {
  readonly atMs: number;
}

/** Further processes of a cgroup are left out. */
const maxProcesses = 64;
/** Only its link shows what a descriptor is; so many links are read for one page, other cgroups on a later page. */
const linksPerPage = 1_000;
/** How long counts of sockets, and limits, are cached. */
const keepMs = 60_000;
const maxCached = 4_096;

/** Open files of the processes of cgroups. Expensive, so it is bounded in every dimension. */
export class HostProcessFiles {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #proc: string;
  readonly #counted = new Map<string, Counted>();
  #links = linksPerPage;

  constructor(options: { readonly clock: Pick<Clock, 'monotonic'>; readonly proc?: string }) {
    this.#clock = options.clock;
    this.#proc = options.proc ?? '/proc';
  }

  /** Starts a new page with a new allowance. */
  begin(): void {
    this.#links = linksPerPage;
    // Removed cgroups are never asked for again.
    if (this.#counted.size > maxCached) this.#counted.clear();
  }

  /** Of the processes `pids` of a cgroup. */
  of(path: string, pids: readonly number[]): OpenFiles {
    const inspected = pids.slice(0, maxProcesses);
    const { sockets, openFilesSoftLimit } = this.#count(path, inspected);
    return {
      fileDescriptors: inspected.reduce((sum, pid) => sum + this.#descriptors(pid), 0),
      sockets,
      openFilesSoftLimit,
    };
  }

  /** Since Linux 6.2 the size of the folder is the number of descriptors; before, it was always 0. */
  #descriptors(pid: number): number {
    const folder = `${this.#proc}/${pid}/fd`;
    return readOptional(() => statSync(folder).size || readdirSync(folder).length, folder) ?? 0;
  }

  #count(path: string, pids: readonly number[]): Counted {
    const before = this.#counted.get(path);
    const nowMs = this.#clock.monotonic();
    if (before !== undefined && nowMs - before.atMs < keepMs) return before;
    if (this.#links <= 0) return before ?? { sockets: undefined, openFilesSoftLimit: undefined, atMs: nowMs };
    const [first] = pids;
    const counted = {
      sockets: pids.reduce((sum, pid) => sum + this.#socketsOf(pid), 0),
      openFilesSoftLimit: first === undefined ? undefined : this.#softLimit(first),
      atMs: nowMs,
    };
    this.#counted.set(path, counted);
    return counted;
  }

  #socketsOf(pid: number): number {
    const folder = `${this.#proc}/${pid}/fd`;
    const names = readOptional(() => readdirSync(folder), folder) ?? [];
    const inspected = names.slice(0, linksPerPage);
    this.#links -= inspected.length;
    return inspected.filter((name) =>
      readOptional(() => readlinkSync(`${folder}/${name}`), folder)?.startsWith('socket:'),
    ).length;
  }

  #softLimit(pid: number): number | undefined {
    return openFilesLimit(readPseudoFile(`${this.#proc}/${pid}/limits`) ?? '');
  }
}
