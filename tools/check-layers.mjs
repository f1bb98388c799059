// Layers, import cycles and bans: what the type checker and the linter cannot see of docs/architecture.md.
//
//   main        anything            components  base, model, gen, own folder
//   roots       as components, and all rooms of their own folder in src/: src/pods/create-*.ts, src/pods/api/create-*.ts
//   adapters    base, model, gen    model       base, gen            base  nothing of ours
//   testing     anything but main; only tests import it
//
// The disk and other programs are for adapters, main and up alone. Composition, which is every create-*.ts and all of
// src/main/agent/, reads from top to bottom: nothing in it is used before it is made.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import { forwardReferences } from './lib/forward-references.mjs';
import { storesInViews, storesOf } from './lib/stores-in-views.mjs';
import { systemImports } from './lib/system-imports.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The room a file is in: `base`, `pods/worker`, `main`… Files directly in pods/ are a room by themselves. */
function roomOf(path) {
  const [, first, second] = path.split('/');
  if (first === 'pods') return `pods/${second}`;
  return first;
}

/** What a room may import besides itself; undefined means anything. */
function allowedFor(room) {
  if (room === 'main') return undefined;
  if (room === 'testing') return (other) => other !== 'main';
  if (room === 'base') return () => false;
  if (room === 'gen') return () => false;
  if (room === 'model') return (other) => other === 'base' || other === 'gen';
  return (other) => other === 'base' || other === 'model' || other === 'gen';
}

/** The root of a subsystem composes the rooms of its own folder. */
function isRoot(path) {
  return /^src\/(?:\w+|pods\/api)\/create-[\w-]+\.ts$/.test(path);
}

/** What says which objects there are and what each is given. */
function isComposition(path) {
  return /^src\/(?:.+\/)?create-[\w-]+\.ts$|^src\/main\/agent\/[\w-]+\.ts$/.test(path);
}

const isTest = (path) => path.endsWith('.test.ts');

/** The root of a subsystem, or of the whole agent. */
const handsOut = (path) => /\/create-[\w-]+\.ts$/.test(path) && !innerRoots.has(path);

/** Rooms that touch the disk and start programs, beside tests and what only they use. */
const systemRooms = new Set([
  'apiserver',
  'cri',
  'containerd',
  'dbus',
  'grpc',
  'host',
  'state',
  'telemetry',
  'main',
  'up',
  'testing',
]);

/** Classes with a writing side, and what holds many of them; a root hands them out in parts. */
const stores = new Set([...storesOf(readFileSync(join(root, 'docs/ownership.md'), 'utf8')), 'PodStores']);
/** Roots within a root: what they return goes no further than the roots of the pods. */
const innerRoots = new Set([
  'src/pods/create-stores.ts',
  'src/pods/create-signals.ts',
  'src/pods/create-pod-runtime.ts',
]);

/** Words that must not stand in product code, each with the reason and the files where it may. */
const bans = [
  {
    pattern: /\bDate\.now\(|\bnew Date\(\)/,
    why: 'time comes from the injected Clock',
    except: ['src/base/system-clock.ts'],
  },
  {
    pattern: /(?<![.\w])(setTimeout|setInterval)\(/,
    why: 'timers come from the injected Clock',
    except: ['src/base/system-clock.ts'],
  },
  {
    pattern: /\bperformance\.now\(|process\.hrtime/,
    why: 'time comes from the injected Clock',
    except: ['src/base/system-clock.ts'],
  },
  {
    pattern: /\bMath\.random\(|\brandomBytes\(|\brandomUUID\(/,
    why: 'randomness is injected',
    except: ['src/base/system-random.ts'],
  },
  { pattern: /\bexecSync\(\s*['"`]|\bshell:\s*true|[^.\w]exec\(\s*['"`]/, why: 'no shell, ever', except: [] },
  {
    pattern: /\bconsole\.(log|error|warn|info)\(/,
    why: 'output goes through the log port or an injected writer',
    except: [],
  },
];

/**
 * Ways to remove a tree, whatever the call is named and over however many lines it goes: a function of Node that can, under
 * any other name too; the program that does; packages that do. Only what removes without crossing mounts may.
 */
const removals = [
  // Imported, under its own or another name, or taken out of a module that was imported as a whole.
  /\bimport\s*(?:type\s*)?(?:\w+\s*,\s*)?\{[^}]*\brm(?:Sync)?\b[^}]*\}\s*from\s*['"](?:node:)?fs(?:\/promises)?['"]/,
  /\{[^{}]*\brm(?:Sync)?\b[^{}]*\}\s*=\s*(?:await\s+)?(?:import|require)?\(?\s*\w*['"]?(?:node:)?fs/,
  // Called, as a function or a method, also through brackets.
  /(?<![\w$#])rm(?:Sync)?\s*\(/,
  /\[\s*['"`]rm(?:Sync)?['"`]\s*\]/,
  // Or handed on, to be called under another name.
  /\.\s*rm(?:Sync)?\b/,
  // A folder with all that is in it.
  /\brmdir(?:Sync)?\b[^;]*?\brecursive\b/,
  // The program, by whatever function it is run, and the packages.
  /\(\s*['"`](?:[\w/]*\/)?(?:rm|find|rsync)['"`]\s*,/,
  /['"](?:rimraf|fs-extra|del|trash)['"]/,
];
const mayRemove = new Set([
  'src/host/safe-remove.ts',
  // `tubelet up` removes a folder it tries a mount in; `tubelet down` unmounts first and refuses while anything is mounted.
  'src/up/private-runtime.ts',
  'src/up/remove-everything.ts',
]);

/** The lines of a file on which a tree is removed without regard to mounts. */
function removalsIn(source) {
  // Words in comments remove nothing; the lines keep their numbers.
  const code = source.replace(/\/\*[\s\S]*?\*\/|(?<![:'"`\w])\/\/[^\n]*/g, (text) => text.replace(/[^\n]/g, ' '));
  return removals.flatMap((pattern) => {
    const at = code.search(pattern);
    return at < 0 ? [] : [code.slice(0, at).split('\n').length];
  });
}

function sourceFiles(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return sourceFiles(path);
    return entry.name.endsWith('.ts') ? [path] : [];
  });
}

function importsOf(path, source) {
  const found = [];
  for (const match of source.matchAll(
    /(?:^|\n)\s*(?:import|export)\s(?<type>type\s)?[^'";]*?from\s*'(?<from>\.[^']+)'|import\('(?<lazy>\.[^']+)'\)/g,
  )) {
    const { from, lazy, type } = match.groups;
    const target = normalize(join(dirname(path), from ?? lazy));
    found.push({ target, typeOnly: type !== undefined, lazy: lazy !== undefined });
  }
  return found;
}

const problems = [];
const graph = new Map();
for (const path of sourceFiles('src')) {
  const source = readFileSync(join(root, path), 'utf8');
  const imports = importsOf(path, source);
  graph.set(
    path,
    imports.filter((entry) => !entry.lazy).map((entry) => entry.target),
  );
  const room = roomOf(path);
  for (const { target } of imports) {
    if (!target.startsWith('src/')) problems.push(`${path}: imports ${target}, which is outside src/`);
    const other = roomOf(target);
    if (other === room || isTest(path)) continue;
    if (isRoot(path) && target.startsWith(`${path.split('/', 2).join('/')}/`)) continue;
    if (other === 'testing' && room !== 'testing') problems.push(`${path}: product code imports testing (${target})`);
    else if (allowedFor(room)?.(other) === false)
      problems.push(`${path}: ${room} must not import ${other} (${target})`);
  }
  if (isTest(path) || room === 'gen' || room === 'testing') continue;
  for (const line of mayRemove.has(path) ? [] : removalsIn(source)) {
    problems.push(`${path}:${line}: trees are removed by host/safe-remove.ts alone, which never crosses a mount`);
  }
  for (const { offset, module } of systemRooms.has(room) ? [] : systemImports(parseSync, path, source)) {
    problems.push(`${path}:${lineAt(source, offset)}: ${module} is for adapters alone: ask through a port of ${room}`);
  }
  for (const { offset, problem } of isComposition(path) ? forwardReferences(parseSync, path, source) : []) {
    problems.push(`${path}:${lineAt(source, offset)}: ${problem}`);
  }
  for (const { offset, name } of handsOut(path) ? storesInViews(parseSync, path, source, stores) : []) {
    problems.push(`${path}:${lineAt(source, offset)}: ${name} leaves its owner: return a Pick of it, or a port`);
  }
  source.split('\n').forEach((line, index) => {
    if (/^\s*(\/\/|\*|\/\*)/.test(line)) return;
    for (const { pattern, why, except } of bans) {
      if (pattern.test(line) && !except.includes(path)) problems.push(`${path}:${index + 1}: ${why}: ${line.trim()}`);
    }
  });
}
for (const cycle of findCycles(graph)) problems.push(`import cycle: ${cycle.join(' → ')}`);

for (const problem of problems) console.error(problem);
console.log(`layers: ${graph.size} files, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;

function lineAt(source, offset) {
  return source.slice(0, offset).split('\n').length;
}

function findCycles(edges) {
  const cycles = [];
  const done = new Set();
  const visit = (path, trail) => {
    const at = trail.indexOf(path);
    if (at >= 0) cycles.push([...trail.slice(at), path]);
    if (at >= 0 || done.has(path)) return;
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of edges.keys()) visit(path, []);
  return cycles;
}
