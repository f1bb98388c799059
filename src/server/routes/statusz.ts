import type { Clock } from '../../base/clock.ts';
import type { Heartbeats } from '../../base/heartbeats.ts';
import type { Random } from '../../base/random.ts';
import type { Handler } from '../route.ts';
import { loopLines } from './loop-lines.ts';
import { peoplePage, type PageLine } from './people-page.ts';

interface StatuszDeps {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly random: Pick<Random, 'next'>;
  /** When the agent started, by both clocks. */
  readonly startedAt: { readonly wall: number; readonly monotonic: number };
  /** The release that is reported: `v1.34.0+tubelet.0.1.0`. */
  readonly version: string;
  /** Of the program that runs us. */
  readonly nodeVersion: string;
  /** What can be asked for: the paths of the route table. */
  readonly paths: readonly string[];
  readonly heartbeats: Pick<Heartbeats, 'all' | 'hung'>;
  /** What is wrong on this node and stays wrong until an administrator repairs it. */
  readonly troubles: () => readonly Trouble[];
}

interface Trouble {
  /** What it is about: `Left of pod 0f3c…`. */
  readonly what: string;
  readonly why: string;
  /** Wall milliseconds. */
  readonly since: number;
}

/** `/statusz`: what runs here and since when. */
export function statuszHandler(deps: StatuszDeps): Handler {
  const { clock, random, startedAt, version, nodeVersion, paths, heartbeats, troubles } = deps;
  const started = new Date(startedAt.wall).toUTCString();
  const roots = [...new Set(paths.map((path) => path.replace(/\/?\{.*$/, '')))].sort().join(' ');
  const emulated = /^v?(\d+\.\d+)/.exec(version)?.[1] ?? version;
  return async (request) => {
    const now = clock.monotonic();
    const wallOf = (monotonicMs: number): number => clock.now() - (now - monotonicMs);
    return peoplePage(
      'statusz',
      [
        ['Started', started],
        ['Up', upFor(clock.monotonic() - startedAt.monotonic)],
        ['Node version', nodeVersion],
        ['Binary version', version],
        ['Emulation version', emulated],
        ['Paths', roots],
        ...troubles().map(({ what, why, since }): PageLine => [
          what,
          `${why} (since ${new Date(since).toUTCString()})`,
        ]),
        ...loopLines(heartbeats.all(), heartbeats.hung(now), wallOf),
      ],
      random,
      request,
    );
  };
}

export function upFor(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${Math.floor(seconds / 3_600)} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`;
}
