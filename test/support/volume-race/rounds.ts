import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chown, lstat, mkdir, readdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { kindOf, messageOf } from '../../../src/base/errors.ts';
import { podUid } from '../../../src/base/ids.ts';
import { silentLog } from '../../../src/base/log.ts';
import { volumeHost } from '../../../src/host/index.ts';
import { podPaths } from '../../../src/model/pod-paths.ts';
import { forGroup } from '../../../src/volumes/contents/ownership.ts';
import { SubPaths } from '../../../src/volumes/index.ts';
import { isBelow, mountAt, placeOf, type Bait, type Place } from './bait.ts';

const never = new AbortController().signal;

/** What happened in the rounds, by a word for it. */
class Tally {
  readonly #counts = new Map<string, number>();

  count(what: string): void {
    this.#counts.set(what, this.of(what) + 1);
  }

  of(what: string): number {
    return this.#counts.get(what) ?? 0;
  }

  get text(): string {
    const words = [...this.#counts].map(([what, count]) => `${what} ${count}`);
    return words.toSorted().join(', ');
  }
}

interface RoundsOptions {
  /** The volume that is being swapped, by its real path. */
  readonly volume: string;
  readonly bait: Bait;
  /** A folder of the agent's own. */
  readonly folder: string;
}

/**
 * Rounds of what the agent does to volumes that containers write to, by the agent's own code: folders are made, a part is
 * opened and bound; then a tree changes hands, or another is removed.
 */
export class Rounds {
  readonly tally = new Tally();
  readonly #volume: string;
  readonly #place: Place;
  readonly #bait: Bait;
  readonly #before: readonly string[];
  readonly #uid = podUid('racing');
  readonly #subPaths: SubPaths;
  readonly #target: (index: number) => string;

  constructor({ volume, bait, folder }: RoundsOptions) {
    const paths = podPaths(folder, join(folder, 'logs'));
    this.#volume = volume;
    this.#place = placeOf(volume);
    this.#bait = bait;
    this.#before = bait.state();
    this.#subPaths = new SubPaths({ log: silentLog, host: volumeHost, paths });
    this.#target = (index) => join(paths.subPaths(this.#uid), 'v', 'main', String(index));
  }

  async run(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      await this.#bind(round);
      await (round % 2 === 0 ? this.#changeOwner(round) : this.#remove());
      // The bait is looked at often enough to say in which rounds it was.
      if (round % 50 === 49) this.#check(`rounds ${round - 49} to ${round}`);
    }
    await this.#subPaths.clean(this.#uid);
    this.#check('the last rounds');
  }

  /** Takes away what a run that failed has left mounted. */
  close(): Promise<void> {
    return this.#subPaths.clean(this.#uid);
  }

  async #bind(round: number): Promise<void> {
    const parts = ['a/d', 'a/f', 'b/d', 'b/f', `n/made-${round % 100}`, 'n/deep/er'];
    const index = round % parts.length;
    const target = this.#target(index);
    try {
      const subPath = parts[index] ?? '';
      const part = { mountName: 'v', container: 'main', volumePath: this.#volume, subPath, values: [], target };
      await this.#subPaths.bind(this.#uid, part);
      this.tally.count('bound');
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined;
      assert.match(messageOf(error), /^failed to (create subPath directory|prepare subPath) for volumeMount "v"/);
      this.tally.count(`refused (${kindOf(cause)})`);
    }
    const mount = mountAt(target);
    if (mount !== undefined) {
      assert.ok(isBelow(mount, this.#place), `round ${round}: ${mount.root} is not in ${this.#place.path}`);
      assert.equal(existsSync(join(target, 'outside')), false, `round ${round}: the bait is seen`);
    }
    // Most places are used again as they are, as they are for the next instance of a container.
    if (round % 10 === 9) await this.#subPaths.clean(this.#uid);
  }

  async #changeOwner(round: number): Promise<void> {
    const group = { gid: 5_000 + (round % 3), readOnly: false };
    // A large one is done in a thread, by other code.
    const tree = round % 40 === 0 ? 'large' : 'tree';
    await volumeHost.paths.changeTree(join(this.#volume, tree), forGroup(group), never);
    this.tally.count(tree === 'large' ? 'large tree changed hands' : 'changed hands');
  }

  async #remove(): Promise<void> {
    try {
      await volumeHost.files.removeTree(join(this.#volume, 'gone'));
      this.tally.count('removed');
    } catch (error) {
      assert.match(messageOf(error), /somebody keeps writing into it/);
      this.tally.count('not removed yet');
    }
  }

  #check(when: string): void {
    assert.deepEqual(this.#bait.state(), this.#before, `the bait was touched in ${when}`);
    for (const name of ['d', 'f', 'deep', 'made-0']) assert.equal(existsSync(`/${name}`), false, `/${name}: ${when}`);
  }
}

/**
 * The same by paths, as one would do it who knows of links and not of races: look first, then act. Each answers after how
 * many rounds it got out of the volume; nothing when it did not.
 */
export class NaiveRounds {
  readonly #volume: string;
  readonly #bait: Bait;
  readonly #target: string;
  readonly #place: Place;

  constructor({ volume, bait, folder }: RoundsOptions) {
    this.#volume = volume;
    this.#bait = bait;
    this.#place = placeOf(volume);
    this.#target = join(folder, 'naive');
  }

  async untilOutside(what: 'bind' | 'changeOwner' | 'remove', rounds: number): Promise<number | undefined> {
    for (let round = 1; round <= rounds; round++) {
      const before = this.#bait.state().join();
      // Whatever the swapping makes fail is no escape.
      const isOut = await this[what](round).catch(() => false);
      if (isOut || this.#bait.state().join() !== before) return round;
    }
    return undefined;
  }

  async bind(): Promise<boolean> {
    const real = await realpath(join(this.#volume, 'a/d'));
    if (!real.startsWith(`${this.#volume}/`)) return false;
    await mkdir(this.#target, { recursive: true });
    await volumeHost.mounts.bind(real, this.#target);
    try {
      const mount = mountAt(this.#target);
      return mount !== undefined && !isBelow(mount, this.#place);
    } finally {
      await volumeHost.mounts.unmount(this.#target);
    }
  }

  async changeOwner(round: number): Promise<boolean> {
    const walk = async (path: string): Promise<void> => {
      const found = await lstat(path);
      if (found.isSymbolicLink()) return;
      if (found.isDirectory()) for (const name of await readdir(path)) await walk(join(path, name));
      await chown(path, found.uid, 6_000 + (round % 2));
    };
    await walk(join(this.#volume, 'tree'));
    return false;
  }

  async remove(): Promise<boolean> {
    await rm(join(this.#volume, 'gone'), { recursive: true, force: true });
    return false;
  }
}
