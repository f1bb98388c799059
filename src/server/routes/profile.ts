import { isKind, messageOf } from '../../base/errors.ts';
import { maskArguments } from '../profiling/mask-arguments.ts';
import { busyWords, type Profiler } from '../profiling/index.ts';
import { text, type Handler, type Page, type RouteRequest, type RouteResponse, type StreamedAnswer } from '../route.ts';
import type { Handlers } from '../route-table.ts';
import { gzipStream } from './gzip.ts';
import { listAnswer } from './list-answer.ts';

export interface ProfileDeps {
  readonly profiler: Pick<Profiler, 'busyWith' | 'cpu' | 'heap' | 'trace' | 'heapSnapshot'>;
  /** The command line of this process. */
  readonly argv: readonly string[];
}

type Answer = (deps: ProfileDeps, request: RouteRequest) => Promise<RouteResponse>;

interface Profile {
  readonly about: string;
  readonly answer: Answer;
}

const maxSeconds = 300;
/** Readers of profiles show the text of an error only from servers that say they know what they are asked. */
const pprofHeaders = { 'x-go-pprof': '1' } as const;

const profiles: Readonly<Record<string, Profile>> = {
  allocs: {
    about: 'who allocates memory, within ?seconds=N (10), in pprof form',
    answer: recorded(10, async ({ profiler }, seconds, signal) =>
      pprofFile('allocs', await profiler.heap('alloc_space', seconds, signal)),
    ),
  },
  cmdline: {
    about: 'the command line, secrets masked, with NUL between its words',
    answer: async ({ argv }) => text(200, maskArguments(argv).join('\0')),
  },
  heap: {
    about: 'what was allocated within ?seconds=N (10) and is still there, in pprof form',
    answer: recorded(10, async ({ profiler }, seconds, signal) =>
      pprofFile('heap', await profiler.heap('inuse_space', seconds, signal)),
    ),
  },
  profile: {
    about: 'where CPU time goes, within ?seconds=N (30), in pprof form',
    answer: recorded(30, async ({ profiler }, seconds, signal) =>
      pprofFile('profile', await profiler.cpu(seconds, signal)),
    ),
  },
  symbol: {
    about: 'says that names are in the profiles themselves',
    answer: async () => text(200, 'num_symbols: 1\n'),
  },
  trace: {
    about: 'events of the engine within ?seconds=N (1), as JSON for a trace viewer',
    answer: recorded(1, async ({ profiler }, seconds, signal) => ({
      ...listAnswer({ before: '{"traceEvents":[', items: await profiler.trace(seconds, signal), after: ']}' }),
      headers: saveAs('trace.json'),
    })),
  },
};

const aboutHeapSnapshot =
  'POST: all objects on the heap with their contents, for the memory tab of a browser; the agent stands still meanwhile';

/** What Go processes have and this one has not. */
const absent: Readonly<Record<string, string>> = {
  goroutine: 'this process has no goroutines; see profile for what runs and heapsnapshot for what waits',
  threadcreate: 'threads of this process are made by its engine, which does not say where',
  block: 'nothing blocks in this process but the event loop; see profile for what keeps it busy',
  mutex: 'this process has one thread that runs code, and no locks',
};

export function profileHandlers(deps: ProfileDeps): Pick<Handlers, 'profileIndex' | 'profile' | 'heapSnapshot'> {
  return {
    profileIndex: async () => indexPage(),
    profile: profileHandler(deps),
    heapSnapshot: (request) => heapSnapshot(deps, request),
  };
}

function indexPage(): Page {
  const listed = [...Object.entries(profiles), ['heapsnapshot', { about: aboutHeapSnapshot }] as const];
  const lines = listed
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, { about }]) => `/debug/pprof/${name.padEnd(14)}${about}\n`);
  return text(200, `Profiles of this process, one at a time:\n\n${lines.join('')}`);
}

function profileHandler(deps: ProfileDeps): Handler {
  return async (request) => {
    const name = request.params['name'] ?? '';
    const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
    if (profile !== undefined) return profile.answer(deps, request);
    const why = Object.hasOwn(absent, name) ? absent[name] : undefined;
    return failure(404, why === undefined ? 'Unknown profile' : `${name}: ${why}`);
  };
}

function recorded(
  usualSeconds: number,
  record: (deps: ProfileDeps, seconds: number, signal: AbortSignal) => Promise<RouteResponse>,
): Answer {
  return async (deps, request) => {
    const seconds = secondsOf(request.query.get('seconds'), usualSeconds);
    if (seconds === undefined) return failure(400, `seconds must be at most ${maxSeconds}`);
    // A HEAD request asks for the headers alone: the process is not sampled for half a minute.
    if (request.method === 'HEAD') return pprofFile(request.params['name'] ?? '', new Uint8Array());
    try {
      return await record(deps, seconds, request.signal);
    } catch (error) {
      if (isKind(error, 'conflict')) return failure(409, messageOf(error));
      throw error;
    }
  };
}

async function heapSnapshot({ profiler }: ProfileDeps, request: RouteRequest): Promise<RouteResponse> {
  const { busyWith } = profiler;
  if (busyWith !== undefined) return failure(409, busyWords(busyWith));
  const send: StreamedAnswer['send'] = (sink, signal) =>
    profiler.heapSnapshot(async (chunk) => {
      signal.throwIfAborted();
      await sink.write(chunk);
    });
  const headers = saveAs('tubelet.heapsnapshot');
  return gzipStream({ kind: 'stream', status: 200, contentType: 'application/json', headers, send }, request);
}

/** What is no positive whole number stands for the usual time; undefined when it is too long. */
export function secondsOf(asked: string | null, usual: number): number | undefined {
  const seconds = asked !== null && /^\d+$/.test(asked) ? Number(asked) : 0;
  if (seconds === 0) return usual;
  return seconds > maxSeconds ? undefined : seconds;
}

function pprofFile(name: string, body: Uint8Array): Page {
  return { kind: 'page', status: 200, contentType: 'application/octet-stream', headers: saveAs(name), body };
}

const saveAs = (name: string): Readonly<Record<string, string>> => ({
  'content-disposition': `attachment; filename="${name}"`,
});

function failure(status: number, words: string): Page {
  return { ...text(status, `${words}\n`), headers: pprofHeaders };
}
