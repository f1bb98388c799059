import assert from 'node:assert/strict';
import { test } from 'node:test';
import { healthPage, type HealthCheck } from './health-checks.ts';

const well = (name: string): HealthCheck => ({ name, check: () => undefined });
const ill = (name: string): HealthCheck => ({ name, check: () => `${name} is stuck at 10.0.0.1` });

const page = (checks: readonly HealthCheck[], query: { verbose?: boolean; exclude?: readonly string[] } = {}) =>
  healthPage(checks, { verbose: query.verbose ?? false, exclude: query.exclude ?? [] });

test('all is well: ok and nothing else', () => {
  assert.deepEqual(page([well('ping'), well('syncloop')]), {
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

test('an excluded check is not even asked', () => {
  const never: HealthCheck = { name: 'syncloop', check: () => assert.fail('it was asked') };
  assert.equal(page([well('ping'), never], { exclude: ['syncloop'] }).body, 'ok');
  assert.equal(
    page([well('ping'), never], { exclude: ['syncloop', 'unheard-of'], verbose: true }).body,
    '[+]ping ok\n[+]syncloop excluded: ok\nhealthz check passed\n',
  );
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
