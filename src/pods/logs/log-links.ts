import { join, relative } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { isKind, messageOf } from '../../base/errors.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Heartbeats, Round } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import { superviseLoop, type LoopHandle } from '../../base/loop.ts';
import type { Random } from '../../base/random.ts';
import { linkName, logFields, type ContainerLog } from './container-log.ts';
import type { ContainerLogs, LinkFiles } from './ports.ts';

interface LogLinksDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly logs: ContainerLogs;
  readonly files: LinkFiles;
  /** Where the links are: `/var/log/containers`. */
  readonly folder: string;
  /** Where the logs are. Links that lead elsewhere belong to other programs. */
  readonly podLogsDir: string;
}

const folderMode = 0o755;
const roundMs = 60_000;

/** Keeps a folder of links to the logs of all containers, with the names that log collectors expect. */
export class LogLinks implements Component {
  readonly name = 'log-links';
  readonly #deps: LogLinksDeps;
  /** Names of links that are there. */
  #present = new Set<string>();
  readonly #work = new Set<Promise<void>>();
  readonly #stopped = new AbortController();
  /** Logged once, until another failure. */
  #lastFailure: string | undefined;
  #loop: LoopHandle | undefined;

  constructor(deps: LogLinksDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    const { clock, random, log, heartbeats } = this.#deps;
    const { signal } = this.#stopped;
    const body = async (_: AbortSignal, round: Round): Promise<void> => {
      await this.reconcile();
      await round.waitFor(clock.sleep(roundMs, signal));
    };
    this.#loop = superviseLoop({ name: this.name, heartbeats, clock, random, log, signal, body });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop?.done;
    await Promise.all(this.#work);
  }

  /** Containers of the pod may have been started. */
  changed(uid: PodUid): void {
    if (this.#loop === undefined || this.#stopped.signal.aborted) return;
    const logs = [...this.#deps.logs.of(uid)].filter((log) => !this.#present.has(linkName(log)));
    if (logs.length === 0) return;
    const work = this.#makeAll(logs).finally(() => this.#work.delete(work));
    this.#work.add(work);
  }

  /** Removes dead links and makes missing ones. */
  async reconcile(): Promise<void> {
    const { files, logs, folder } = this.#deps;
    await files.makeFolder(folder, folderMode);
    const all = [...logs.all()];
    const known = new Set(all.map(linkName));
    // While a log is rotated there is no file for a moment; the link of a container that runs stays.
    const running = new Set(all.filter((log) => log.running).map(linkName));
    const present = new Set<string>();
    for await (const name of files.names(folder)) {
      if (!running.has(name) && (await this.#removeIfDead(name))) continue;
      // Names of other programs are not kept, because there may be any number of them.
      if (known.has(name)) present.add(name);
    }
    this.#present = present;
    await this.#makeAll(all.filter((log) => !this.#present.has(linkName(log))));
  }

  /** Returns whether it did. */
  async #removeIfDead(name: string): Promise<boolean> {
    const { files, folder, podLogsDir } = this.#deps;
    const target = name.endsWith('.log') ? await files.readLink(join(folder, name)) : undefined;
    if (target === undefined || !isBelow(podLogsDir, target) || (await files.exists(target))) return false;
    await files.removeLink(join(folder, name));
    return true;
  }

  async #makeAll(logs: readonly ContainerLog[]): Promise<void> {
    for (const log of logs) {
      try {
        await this.#make(log);
        this.#lastFailure = undefined;
      } catch (error) {
        const failure = messageOf(error);
        if (failure === this.#lastFailure) continue;
        this.#lastFailure = failure;
        this.#deps.log.error(error, 'Cannot link a container log', {
          ...logFields(log),
          path: log.path,
          folder: this.#deps.folder,
        });
      }
    }
  }

  async #make(log: ContainerLog): Promise<void> {
    const { files, folder } = this.#deps;
    const name = linkName(log);
    const path = join(folder, name);
    // A link without its log would be dead; the next round tries again.
    if (!(await files.exists(log.path))) return;
    try {
      await files.link(path, log.path);
    } catch (error) {
      if (!isKind(error, 'alreadyExists')) throw error;
      const target = await files.readLink(path);
      if (target === undefined) throw error;
      if (target !== log.path) {
        await files.removeLink(path);
        await files.link(path, log.path);
      }
    }
    this.#present.add(name);
  }
}

function isBelow(folder: string, path: string): boolean {
  const relativePath = relative(folder, path);
  return relativePath !== '' && !relativePath.startsWith('..') && !relativePath.startsWith('/');
}
