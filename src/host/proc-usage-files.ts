import { readdirSync, readlinkSync, statSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { readPseudoFile, told } from './proc-usage-file.ts';
import { openFilesLimit } from './proc-usage-text.ts';

interface OpenFiles {
  readonly fileDescriptors: number;
  /** Undefined until there was time to count them. */
  readonly sockets: number | undefined;
  /** Of the first process; -1 for none. */
  readonly openFilesSoftLimit: number | undefined;
}

interface Counted extends Pick<OpenFiles, 'sockets' | 'openFilesSoftLimit'> {
  readonly atMs: number;
}

/** More processes than these are not looked at, for each cgroup. */
const mostProcesses = 64;
/** What a descriptor is, only its link tells; so many of them are read for one page, the other cgroups have their turn later. */
const linksPerPage = 1_000;
/** Counts of sockets, and limits, serve for this long. */
const keepMs = 60_000;
const mostKept = 4_096;

/** Open files of the processes of cgroups. Dear, so it is bounded in every direction. */
export class HostProcessFiles {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #proc: string;
  readonly #counted = new Map<string, Counted>();
  #links = linksPerPage;

  constructor(options: { readonly clock: Pick<Clock, 'monotonic'>; readonly proc?: string }) {
    this.#clock = options.clock;
    this.#proc = options.proc ?? '/proc';
  }

  /** A new page begins, and with it a new allowance. */
  begin(): void {
    this.#links = linksPerPage;
    // Whoever is gone is never asked about again.
    if (this.#counted.size > mostKept) this.#counted.clear();
  }

  /** Of the processes of the cgroup of that path. */
  of(path: string, pids: readonly number[]): OpenFiles {
    const looked = pids.slice(0, mostProcesses);
    const { sockets, openFilesSoftLimit } = this.#count(path, looked);
    return {
      fileDescriptors: looked.reduce((sum, pid) => sum + this.#descriptors(pid), 0),
      sockets,
      openFilesSoftLimit,
    };
  }

  /** Since Linux 6.2 the size of the folder is the number of descriptors; before, it was always 0. */
  #descriptors(pid: number): number {
    const folder = `${this.#proc}/${pid}/fd`;
    return told(() => statSync(folder).size || readdirSync(folder).length, folder) ?? 0;
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
    const names = told(() => readdirSync(folder), folder) ?? [];
    const looked = names.slice(0, linksPerPage);
    this.#links -= looked.length;
    return looked.filter((name) => told(() => readlinkSync(`${folder}/${name}`), folder)?.startsWith('socket:')).length;
  }

  #softLimit(pid: number): number | undefined {
    return openFilesLimit(readPseudoFile(`${this.#proc}/${pid}/limits`) ?? '');
  }
}
