import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Machine } from '../../tools/lib/machine-v2/machine.mjs';

/** A test that ended inside the machine. */
interface InsideResult {
  readonly name: string;
  readonly ok: boolean;
  /** Whether it was left out, and why. */
  readonly skip?: string | boolean;
  readonly error?: string;
}

interface InsideOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

/** Test files below inside/ that this run wants, each with its compiled form. */
export function insideTests(): readonly (readonly [source: string, compiled: string])[] {
  return JSON.parse(process.env['TUBELET_INSIDE_TESTS'] ?? '[]') as [string, string][];
}

/** Variables of the real tests, as on the host; inside, everything takes several times longer. */
const testVariables = (): Record<string, string> => {
  const set = Object.entries(process.env).filter(([name]) => name.startsWith('TUBELET_TEST_'));
  return {
    TUBELET_TEST_PATIENCE: '5',
    TUBELET_TEST_STORIES_AT_ONCE: '3',
    ...(Object.fromEntries(set) as Record<string, string>),
  };
};

let count = 0;

/** Runs a compiled test file in the machine, in the checkout, and reports each of its tests as one of the context's own. */
export async function runInside(
  context: TestContext,
  machine: Machine,
  compiled: string,
  { env = {}, timeoutMs = 3_000_000 }: InsideOptions = {},
): Promise<void> {
  const name = `results-${++count}`;
  const words = [
    'node',
    '--test-reporter=/exchange/reporter.mjs',
    `--test-reporter-destination=/exchange/${name}`,
    compiled,
  ];
  const { code, signal, stdout, stderr } = await machine.run(words, {
    cwd: process.cwd(),
    env: { ...testVariables(), ...env },
    timeoutMs,
  });
  const results = readResults(join(machine.exchange, name));
  for (const result of results) await context.test(result.name, (inner) => report(inner, result));
  if (code !== 0 && results.every(({ ok }) => ok)) {
    throw new Error(`ended with ${signal ?? code} and no failed test:\n${`${stdout}${stderr}`.slice(-8_000)}`);
  }
  if (results.length === 0) throw new Error('no test ran');
}

function readResults(path: string): readonly InsideResult[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as InsideResult);
}

function report(context: TestContext, { ok, skip, error }: InsideResult): void {
  if (typeof skip === 'string') return context.skip(skip);
  if (skip === true) return context.skip();
  if (!ok) throw new InsideError(error ?? 'failed without saying why');
}

/** An error that happened inside, with the stack it had there. */
class InsideError extends Error {
  constructor(stack: string) {
    super(stack);
    this.stack = stack;
  }
}
