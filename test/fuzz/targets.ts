import { routeTable, type RouteId } from '../../src/server/route-table.ts';
import type { Dice } from '../simulation/dice.ts';
import { allModes } from './hostile-runtime.ts';
import { fuzzNamespace, fuzzPod, fuzzUid, portModes, portPod, runModes } from './world-pods.ts';

/** Stands where secrets stand in queries and bodies; no line of the log may have it, and hardly any answer. */
export const queryMark = 'qu3rys3cret';

/** All but the snapshot of the heap, which holds every secret by design. */
export const routeIds = (Object.keys(routeTable) as RouteId[]).filter((id) => id !== 'heapSnapshot');

const times = ['2025-01-01T00:00:00Z', '2025-01-01T00:20:00.5+01:00', '2999-12-31T23:59:59Z', 'null', 'yesterday', '0'];
const numbers = [
  '0',
  '1',
  '10',
  '-1',
  '+5',
  '007',
  '1e3',
  '1.5',
  '9223372036854775807',
  '99999999999999999999',
  'NaN',
  '',
];
const flags = ['true', 'false', '1', '0', '', 'yes', 'TRUE'];

/** What each page reads of a query, with values that are good, bad, and neither. */
const logQuery = {
  follow: flags,
  previous: flags,
  timestamps: flags,
  tailLines: numbers,
  tail: ['all', ...numbers],
  limitBytes: numbers,
  sinceSeconds: numbers,
  sinceTime: times,
  stream: ['All', 'Stdout', 'Stderr', 'stdout', ''],
};
const sessionQuery = { input: flags, output: flags, error: flags, tty: flags };
const nodeLogQuery = {
  query: [
    'kubelet',
    'flood',
    'fail',
    'hang',
    '/syslog',
    '../../etc/shadow',
    '/',
    ' ',
    'a;b',
    'x'.repeat(300),
    '-f',
    '\\x',
  ],
  sinceTime: times,
  untilTime: times,
  boot: numbers,
  tailLines: numbers,
  pattern: ['line', '(a+)+$', '[', '\\', 'x'.repeat(1_100), '(?=a)', '.*'],
};
/** The longest is cut short by the clock; readers of profiles may wait for minutes. */
const profileQuery = {
  seconds: ['0', '1', '5', '-1', '301', 'abc', '1e9', '0.2', '99999999999999999999'],
  debug: numbers,
};

const queries: Partial<Record<RouteId, Readonly<Record<string, readonly string[]>>>> = {
  containerLogs: logQuery,
  exec: sessionQuery,
  execUid: sessionQuery,
  attach: sessionQuery,
  attachUid: sessionQuery,
  portForward: { port: ['80', '0', '65536', '80,81', '', 'x', Array.from({ length: 200 }, (_, n) => n + 1).join(',')] },
  nodeLogs: nodeLogQuery,
  nodeLogFiles: nodeLogQuery,
  profile: profileQuery,
  statsSummary: { only_cpu_and_memory: flags },
  healthz: { verbose: flags, exclude: ['ping', 'syncloop', 'nothing', ''] },
  checkpoint: { timeout: numbers },
};

/** Anything, of which some is good for nothing anywhere. */
const strange: readonly string[] = [
  '%00',
  '%0d%0ax-injected:%201',
  '%',
  '%zz',
  '%c0%ae%c0%ae',
  '%e2%80%ae',
  '%F0%9F%92%A9',
  '\'"><script>',
  '${jndi:ldap://x}',
  '__proto__',
  'constructor',
  'toString',
  '..;/',
];

export interface FuzzTarget {
  readonly id: RouteId;
  /** With the query. */
  readonly path: string;
  /** How sessions, commands or checkpoints at this path go; nothing where there are none. */
  readonly mode: string | undefined;
}

/** The address of a page, most often one that is there. */
export function aTarget(dice: Dice, id: RouteId = dice.pick(routeIds)): FuzzTarget {
  const spec = routeTable[id];
  const isRun = id === 'run' || id === 'runUid';
  const modes = isRun ? runModes : id.startsWith('portForward') ? portModes : allModes;
  // Of sessions that come about there is most to be broken.
  const mode = !isRun && dice.chance(0.4) ? dice.pick(['good', 'good', 'silent']) : dice.pick(modes);
  const pod = id.startsWith('portForward') ? portPod(mode) : fuzzPod;
  const path = spec.path.replaceAll(/\{(\w+)(?:\.\.\.)?\}/g, (_, name: string) => {
    if (dice.chance(0.06)) return dice.pick(['nothing', 'a'.repeat(dice.whole(1, 5_000)), '%41', ...strange]);
    if (name === 'namespace') return fuzzNamespace;
    if (name === 'pod') return pod;
    if (name === 'uid') return id.startsWith('portForward') ? `uid-${mode}` : fuzzUid;
    if (name === 'container') return mode;
    if (name === 'file') return dice.pick(['', 'dpkg.log', 'apt/', 'apt/history.log', 'pods', 'nothing', 'a/b/c/d']);
    return dice.pick(['cmdline', 'symbol', 'profile', 'heap', 'allocs', 'trace', 'goroutine', 'nothing', 'mutex']);
  });
  const moded = spec.path.includes('{pod}') ? mode : undefined;
  return { id, path: `${path}${aQuery(dice, id)}`, mode: moded };
}

function aQuery(dice: Dice, id: RouteId): string {
  const words: string[] = [];
  const known = Object.entries(queries[id] ?? {});
  for (const [name, values] of known) if (dice.chance(0.35)) words.push(`${name}=${encode(dice, dice.pick(values))}`);
  // Without a stream there is no session.
  if ('input' in (queries[id] ?? {}) && dice.chance(0.7)) words.push('output=1');
  if (/^(exec|attach)/.test(id)) words.push('command=sh', `command=--password=${queryMark}`);
  if (id.startsWith('run')) words.push(`cmd=ls+--token%3d${queryMark}`);
  if (id === 'profile' && !words.some((word) => word.startsWith('seconds'))) words.push('seconds=3');
  if (dice.chance(0.2)) words.push(`${dice.pick(['token', 'access_token', 'password'])}=${queryMark}`);
  if (dice.chance(0.1)) words.push(`${dice.pick(strange)}=${dice.pick(strange)}`);
  if (dice.chance(0.02)) words.push(...Array.from({ length: dice.whole(100, 3_000) }, (_, n) => `p${n}=1`));
  if (dice.chance(0.02)) words.push(`long=${'x'.repeat(dice.whole(1_000, 200_000))}`);
  return words.length === 0 ? '' : `?${words.join('&')}`;
}

function encode(dice: Dice, value: string): string {
  return dice.chance(0.9) ? encodeURIComponent(value) : value.replaceAll(/[\s#\0]/g, '+');
}

type Change = (dice: Dice, target: string) => string;

const changes: Readonly<Record<string, Change>> = {
  escapeOne: (dice, target) =>
    at(dice, target, (rest) => `%${rest.charCodeAt(0).toString(16).padStart(2, '0')}${rest.slice(1)}`),
  doubleEscape: (dice, target) => at(dice, target, (rest) => `%25${rest.charCodeAt(0).toString(16)}${rest.slice(1)}`),
  doubleSlash: (_, target) => target.replace('/', '//'),
  slashes: (dice, target) => '/'.repeat(dice.whole(2, 9_000)) + target,
  dots: (dice, target) => dice.pick(['/..', '/.', '/%2e%2e', '/.%2e', '/...', '/..%2f']) + target,
  climb: (_, target) => `/logs/../../../etc/passwd${target}`,
  inner: (dice, target) => at(dice, target, (rest) => `${dice.pick(strange)}${rest}`),
  upper: (_, target) => target.toUpperCase(),
  backslash: (_, target) => target.replaceAll('/', '\\'),
  cut: (dice, target) => target.slice(0, dice.whole(0, target.length)),
  twice: (_, target) => target + target,
  fragment: (_, target) => `${target}#/healthz`,
  absolute: (dice, target) =>
    `${dice.pick(['http://a', 'https://user:pass@b:1', 'HTTP://[::1', 'ftp://c', '//d'])}${target}`,
  star: () => '*',
  authority: () => 'elsewhere:443',
  long: (dice, target) => `${target}/${'a'.repeat(dice.whole(1_000, 100_000))}`,
  tooLong: (_, target) => `${target}/${'a'.repeat(1 << 20)}`,
  deep: (dice, target) => `${target}${'/a'.repeat(dice.whole(100, 9_000))}`,
  bytes: (_, target) => `${target}\u00ff\u00fe\u00c3\u0028`,
  semicolon: (_, target) => `${target};jsessionid=1`,
};
const changeNames = Object.keys(changes);

function at(dice: Dice, target: string, change: (rest: string) => string): string {
  const index = dice.whole(0, Math.max(0, target.length - 1));
  return target.slice(0, index) + change(target.slice(index));
}

/** The same address as nobody should write it. */
export function changedTarget(dice: Dice, target: string): string {
  // What was a query may become a path, and paths may be told.
  let result = target.replaceAll(queryMark, 'nosecret');
  for (let count = dice.whole(1, 3); count > 0; count--) {
    // The largest is rare: it is larger than everything else together.
    const name = dice.pick(changeNames);
    if (name === 'tooLong' && !dice.chance(0.1)) continue;
    result = changes[name]?.(dice, result) ?? result;
  }
  return result.slice(0, 1 << 21);
}
