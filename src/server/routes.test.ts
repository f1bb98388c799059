import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent as PlainAgent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { describe, test } from 'node:test';
import { systemClock } from '../base/system-clock.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { ServerWorld } from '../testing/server-world.ts';
import { AuthenticatorChain } from './auth/authenticators.ts';
import { bindRoutes, routeTable, type Handlers } from './index.ts';
import { text, type Handler, type ListenerName, type RouteSpec } from './route.ts';

/**
 * Everything the agent answers to a client without credentials, path by path on every listener. The list is compared
 * as a whole, so that no page can become open, or vanish, without a changed line of it. To make it anew,
 * remove the file, run this test, and read the difference.
 */
const golden = 'test/golden/server/anonymous-walk.txt';

const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'HEAD'];
const listeners: readonly ListenerName[] = ['secure', 'readOnly', 'healthz'];
const pages = Object.values(routeTable).map(({ path }) => path.replaceAll(/\{(\w+)(\.\.\.)?\}/g, '$1'));
const strange = [
  '/',
  '/nothing',
  '/livez',
  '/readyz',
  '/index.html',
  '/stats',
  '/stats/container',
  '/metrics/nothing',
  '/pods/x',
  '/exec',
  '/exec/a',
  '/run',
  '/logs/a%2fb',
  '/%zz',
  '/logs/../pods',
  '/healthz/nothing',
  '/debug',
  '/cri/exec/x',
];
const paths = [...pages, ...strange].toSorted();

const served: Handler = async () => text(200, 'served');
const handlers = Object.fromEntries(Object.keys(routeTable).map((id) => [id, served])) as unknown as Handlers;

interface WalkOptions {
  readonly title: string;
  readonly debugging: boolean;
  /** Whether anonymous callers may ask at all, and what then. */
  readonly anonymous: 'refused' | 'mayNothing' | 'mayEverything';
  readonly listeners: readonly ListenerName[];
}

const walks: readonly WalkOptions[] = [
  { title: 'as configured by default', debugging: true, anonymous: 'refused', listeners },
  { title: 'enableDebuggingHandlers: false', debugging: false, anonymous: 'refused', listeners },
  {
    title: 'anonymous.enabled: true, nothing granted',
    debugging: true,
    anonymous: 'mayNothing',
    listeners: ['secure'],
  },
  { title: 'anonymous.enabled: true, AlwaysAllow', debugging: true, anonymous: 'mayEverything', listeners: ['secure'] },
  {
    title: 'anonymous.enabled: true, AlwaysAllow, enableDebuggingHandlers: false',
    debugging: false,
    anonymous: 'mayEverything',
    listeners: ['secure'],
  },
];

async function walk({ title, debugging, anonymous, listeners: walked }: WalkOptions): Promise<readonly string[]> {
  const chain = new AuthenticatorChain({
    clock: systemClock(),
    log: new MemoryLog(),
    certificates: undefined,
    tokens: undefined,
    anonymous: anonymous !== 'refused',
  });
  const world = await ServerWorld.open({
    routes: bindRoutes(handlers),
    switches: { debugging },
    authenticate: (credentials, signal) => chain.authenticate(credentials, signal),
    allow: () => anonymous === 'mayEverything',
    listeners: walked,
  });
  const keepAlive = { keepAlive: true, maxSockets: 1 };
  const plain = new PlainAgent(keepAlive);
  const secure = new SecureAgent(keepAlive);
  const lines: string[] = [`# ${title}`];
  try {
    for (const listener of walked) {
      const agent = listener === 'secure' ? secure : plain;
      for (const path of paths) lines.push(`${listener} ${path}  ${await answersAt(world, listener, path, agent)}`);
    }
  } finally {
    plain.destroy();
    secure.destroy();
    await world.close();
  }
  assert.deepEqual(world.log.messages('error'), []);
  return lines;
}

interface Outcome {
  readonly status: number;
  readonly words: string;
  readonly allow: string;
  readonly methods: string[];
}

/** What each method gets; those with the same answer stand together. */
async function answersAt(world: ServerWorld, listener: ListenerName, path: string, agent: PlainAgent): Promise<string> {
  const outcomes: Outcome[] = [];
  for (const method of methods) {
    const { status, headers, body } = await world.ask(listener, path, { method, agent });
    assert.equal(headers.location, undefined);
    const allow = headers.allow === undefined ? '' : ` (allow ${headers.allow})`;
    const words = status === 200 || body === '' ? '' : ` ${shortened(body.trim())}`;
    const alike = outcomes.filter((one) => one.status === status && one.allow === allow);
    // The words for HEAD are never seen, so it stands with others only where there is no doubt.
    const same = method === 'HEAD' && alike.length === 1 ? alike[0] : alike.find((one) => one.words === words);
    if (same === undefined) outcomes.push({ status, words, allow, methods: [method] });
    else same.methods.push(method);
  }
  return outcomes
    .map(({ status, words, allow, methods: asked }) => {
      const who = asked.length === methods.length ? '*' : asked.join(',');
      return `${who}: ${status}${words}${allow}`;
    })
    .join(' | ');
}

/** What is missing, in the words of a role; the whole sentence is tested elsewhere. */
function shortened(words: string): string {
  return words.replace(
    /^Forbidden \(user=system:anonymous, verb=(\w*), resource=nodes, subresource\(s\)=\[([^\]]+)\]\)$/,
    (_all, verb: string, subresources: string) =>
      `needs ${verb === '' ? '-' : verb} nodes/${subresources.split(' ').join(' or nodes/')}`,
  );
}

test('the anonymous walk is as it was agreed', async () => {
  const sections: string[] = [];
  for (const options of walks) sections.push((await walk(options)).join('\n'));
  const found = `${sections.join('\n\n')}\n`;
  if (!existsSync(golden)) {
    writeFileSync(golden, found);
    assert.fail(`${golden} was written anew: read it`);
  }
  assert.deepEqual(found.split('\n'), readFileSync(golden, 'utf8').split('\n'));
});

describe('the table itself', () => {
  const specs: readonly RouteSpec[] = Object.values(routeTable);

  test('what is open to every client needs no switch, runs nothing and has an end', () => {
    for (const { path, listeners: at, switches, right, limitMs, methods: known } of specs) {
      if (at.every((name) => name === 'secure')) continue;
      assert.equal(switches, undefined, path);
      assert.equal(right.alsoVerb, undefined, path);
      assert.ok(limitMs !== undefined, path);
      assert.ok(!known.includes('PUT'), path);
    }
  });

  test('whatever runs something needs `create`, and bodies are small', () => {
    for (const { path, streams, right, bodyBytes } of specs) {
      if (streams === 'upgrade' || path.startsWith('/run/')) assert.equal(right.alsoVerb, 'create', path);
      assert.ok(bodyBytes <= 64 * 1024, path);
    }
  });

  test('is in docs/server.md, each path with its rights', () => {
    const [, section = ''] = readFileSync('docs/server.md', 'utf8').split('\n## Who may do what\n');
    const rows = [...section.matchAll(/^\| (`\/[^|]+)\| ([^|]+)\|$/gm)].flatMap(([, paths = '', rights = '']) =>
      [...paths.matchAll(/`([^`]+)`/g)].flatMap(([, path = '']) =>
        alternatives(path).map((one) => ({ path: one, rights })),
      ),
    );
    for (const { path, right } of specs) {
      const start = path.replace(/\/\{.*$/, '');
      const covers = (row: string): boolean =>
        row.endsWith('…') ? `${start}/`.startsWith(row.slice(0, -1)) : row.replace(/\/(?:\{.*)?$/, '') === start;
      const own = rows.filter((row) => row.path === path);
      const found = own.length > 0 ? own : rows.filter((row) => covers(row.path));
      assert.notEqual(found.length, 0, `${path} has no row`);
      assert.ok(
        found.some(({ rights }) => rights.includes(right.subresource)),
        `${path} needs ${right.subresource}`,
      );
    }
  });
});

/** `/healthz/{ping,log}` are two paths; `/logs/{file}` is one. */
function alternatives(path: string): readonly string[] {
  const [, before = '', list = '', after = ''] = /^(.*)\{([\w-]+(?:,[\w-]+)+)\}(.*)$/.exec(path) ?? [];
  return list === '' ? [path] : list.split(',').map((word) => `${before}${word}${after}`);
}
