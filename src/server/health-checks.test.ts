import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from '../telemetry/registry.ts';
import { HealthCheckResults } from './health-checks-results.ts';
import { healthPage, singleCheckPage, type HealthCheck, type ObserveCheck } from './health-checks.ts';

const well = (name: string): HealthCheck => ({ name, check: () => undefined });
const ill = (name: string): HealthCheck => ({ name, check: () => `${name} is stuck at 10.0.0.1` });

const page = (
  checks: readonly HealthCheck[],
  query: { verbose?: boolean; exclude?: readonly string[] } = {},
  observe?: ObserveCheck,
) => healthPage(checks, { verbose: query.verbose ?? false, exclude: query.exclude ?? [] }, observe);

test('all is well: ok and nothing else', () => {
  assert.deepEqual(page([well('ping'), well('syncloop')]), {
    kind: 'page',
    status: 200,
    contentType: 'text/plain; charset=utf-8',
    body: 'ok',
  });
});

test('verbose names every check', () => {
  assert.equal(
    page([well('ping'), well('syncloop')], { verbose: true }).body,
    '[+]ping ok\n[+]syncloop ok\nhealthz check passed\n',
  );
});

test('a failed check is named, verbose or not; its reason is for the log alone', () => {
  for (const verbose of [false, true]) {
    const { status, body, problem } = page([well('ping'), ill('syncloop')], { verbose });
    assert.equal(status, 500);
    assert.equal(body, '[+]ping ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n');
    assert.equal(problem, 'syncloop: syncloop is stuck at 10.0.0.1');
  }
});

test('all that failed are named', () => {
  const { body, problem } = page([ill('a'), well('b'), ill('c')]);
  assert.equal(body, '[-]a failed: reason withheld\n[+]b ok\n[-]c failed: reason withheld\nhealthz check failed\n');
  assert.equal(problem, 'a: a is stuck at 10.0.0.1; c: c is stuck at 10.0.0.1');
});

test('a check that breaks has failed', () => {
  const broken: HealthCheck = {
    name: 'a',
    check: () => {
      throw new Error('no such thing');
    },
  };
  const { status, problem } = page([broken]);
  assert.deepEqual([status, problem], [500, 'a: the check failed: no such thing']);
});

test('an excluded check is not even asked', () => {
  const never: HealthCheck = { name: 'syncloop', check: () => assert.fail('it was asked') };
  assert.equal(page([well('ping'), never], { exclude: ['syncloop'] }).body, 'ok');
  assert.equal(
    page([well('ping'), never], { exclude: ['syncloop'], verbose: true }).body,
    '[+]ping ok\n[+]syncloop excluded: ok\nhealthz check passed\n',
  );
});

test('names that cannot be excluded are reported among the checks, cut to a limit', () => {
  const warning = 'warn: some health checks cannot be excluded: no matches for';
  assert.equal(page([well('ping')], { exclude: ['x'] }).body, 'ok');
  assert.equal(
    page([well('ping')], { exclude: ['x', 'x', 'a"\n'], verbose: true }).body,
    `[+]ping ok\n${warning} "x","a\\"\\n"\nhealthz check passed\n`,
  );
  assert.equal(
    page([ill('ping')], { exclude: ['x'] }).body,
    `[-]ping failed: reason withheld\n${warning} "x"\nhealthz check failed\n`,
  );
  const many = Array.from({ length: 5_000 }, (_, index) => `${index}${'y'.repeat(1_000)}`);
  assert.ok(page([well('ping')], { exclude: many, verbose: true }).body.length < 1_000);
});

test('a check keeps its own self', () => {
  class Counter implements HealthCheck {
    readonly name = 'counter';
    asked = 0;
    check(): undefined {
      this.asked++;
    }
  }
  const counter = new Counter();
  page([counter]);
  assert.equal(counter.asked, 1);
});

test('one check alone explains itself to those who may know', () => {
  assert.equal(singleCheckPage(well('a'), false).body, 'ok');
  const shown = singleCheckPage(ill('a'), true);
  assert.deepEqual([shown.status, shown.body], [500, 'internal server error: a is stuck at 10.0.0.1\n']);
  const hidden = singleCheckPage(ill('a'), false);
  assert.deepEqual([hidden.status, hidden.body], [500, 'internal server error: reason withheld\n']);
  assert.equal(hidden.problem, 'a: a is stuck at 10.0.0.1');
});

test('checks are counted as they come out, and forgotten on request', () => {
  const registry = new Registry();
  const results = new HealthCheckResults(registry);
  assert.equal(registry.render(), '');
  page([well('ping'), ill('log'), well('syncloop')], { exclude: ['syncloop'] }, results.observe);
  page([well('ping'), well('log')], {}, results.observe);
  const lines = registry
    .render()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('# HELP'));
  assert.deepEqual(lines, [
    '# TYPE kubernetes_healthcheck gauge',
    'kubernetes_healthcheck{name="log",type="healthz"} 1',
    'kubernetes_healthcheck{name="ping",type="healthz"} 1',
    '# TYPE kubernetes_healthchecks_total counter',
    'kubernetes_healthchecks_total{name="log",status="error",type="healthz"} 1',
    'kubernetes_healthchecks_total{name="log",status="success",type="healthz"} 1',
    'kubernetes_healthchecks_total{name="ping",status="success",type="healthz"} 2',
  ]);
  page([ill('ping')], {}, results.observe);
  assert.match(registry.render(), /kubernetes_healthcheck\{name="ping",type="healthz"\} 0\n/);
  results.reset();
  assert.equal(registry.render(), '');
});
