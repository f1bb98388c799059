import { text, type ListenerName, type Page, type RouteSpec, type Switch } from '../route.ts';

export type SwitchStates = Readonly<Record<Switch, boolean>>;

/** Where a part of the server says that it is switched off; all other switched-off pages answer 404. */
interface Notice {
  readonly switch: Switch;
  /** This path and all below it, whether there is a page or not. */
  readonly paths: readonly (readonly string[])[];
  readonly words: string;
}

/** In this order: that all debug endpoints are off comes before that one of them is. */
const notices: readonly Notice[] = [
  {
    switch: 'debugging',
    paths: [
      ['run'],
      ['exec'],
      ['attach'],
      ['portForward'],
      ['containerLogs'],
      ['runningpods'],
      ['debug', 'pprof'],
      ['logs'],
    ],
    words: 'Debug endpoints are disabled.',
  },
  { switch: 'systemLogs', paths: [['logs']], words: 'logs endpoint is disabled.' },
  { switch: 'profiling', paths: [['debug', 'pprof']], words: 'profiling endpoint is disabled.' },
];
const flagsOff = 'flags endpoint is disabled.';

const notFoundPage: Page = text(404, '404 page not found\n');

/**
 * What is answered instead of the page, when it is not to be had at this listener or is switched off; nothing when it
 * is to be served. The health port has no notices: it has two pages and no others.
 */
export function unavailable(
  segments: readonly string[],
  spec: RouteSpec | undefined,
  listener: ListenerName,
  states: SwitchStates,
): Page | undefined {
  const isOn = (name: Switch): boolean => states[name] && !(name === 'debugging' && listener !== 'secure');
  if (listener !== 'healthz') {
    const notice = notices.find(
      ({ switch: name, paths }) => !isOn(name) && paths.some((path) => isBelow(segments, path)),
    );
    if (notice !== undefined) return text(405, `${notice.words}\n`);
  }
  if (spec === undefined || !spec.listeners.includes(listener)) return notFoundPage;
  const off = (spec.switches ?? []).filter((name) => !isOn(name));
  if (off.length === 0) return undefined;
  return off.length === 1 && off[0] === 'debugFlags' ? text(405, `${flagsOff}\n`) : notFoundPage;
}

function isBelow(segments: readonly string[], path: readonly string[]): boolean {
  return path.every((segment, at) => segments[at] === segment);
}

/** The answer to a method that the page does not have, with those it has; undefined for one it has. */
export function wrongMethod(spec: RouteSpec, method: string): Page | undefined {
  if (spec.methods.some((known) => known === method)) return undefined;
  return { ...text(405, 'Method Not Allowed\n'), headers: { allow: spec.methods.join(', ') } };
}
