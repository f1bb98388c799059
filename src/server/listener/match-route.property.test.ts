import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { text, type RouteSpec } from '../route.ts';
import { routeTable } from '../route-table.ts';
import { routeMatcher, type BoundRoute } from './match-route.ts';
import { pathBucket } from './request-metrics.ts';
import { parseTarget } from './target.ts';

const specs: readonly RouteSpec[] = Object.values(routeTable);
const routes: readonly BoundRoute[] = specs.map((spec) => ({ spec, handler: async () => text(200, spec.path) }));
const match = routeMatcher(routes);
const name = /\{(\w+)(?:\.\.\.)?\}/g;
const segment = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }).filter((value) => {
  return !/\p{Surrogate}/u.test(value) && value !== '.' && value !== '..' && !/[/\0]/.test(value);
});

test('names that are put into a path come out of it again, whatever they are', () => {
  fc.assert(
    fc.property(fc.constantFrom(...specs), fc.array(segment, { minLength: 4, maxLength: 4 }), (spec, values) => {
      const wanted: Record<string, string> = {};
      const path = spec.path.replaceAll(name, (_all, key: string) => {
        wanted[key] = values[Object.keys(wanted).length] ?? '';
        return encodeURIComponent(wanted[key]);
      });
      const parsed = parseTarget(`${path}?x=/y`);
      assert.equal(parsed.kind, 'path');
      const found = parsed.kind === 'path' ? match(parsed.segments) : undefined;
      // A name may happen to be a literal of a route that says more.
      if (found?.spec.path === spec.path) assert.deepEqual(found.params, wanted);
      else
        assert.ok(
          found !== undefined && found.spec.path.replaceAll(name, '').length > spec.path.replaceAll(name, '').length,
        );
    }),
  );
});

test('the order of the table does not matter', () => {
  const paths = fc.array(fc.constantFrom('exec', 'logs', 'debug', 'pprof', 'healthz', 'ping', 'a', ''), {
    maxLength: 6,
  });
  fc.assert(
    fc.property(fc.shuffledSubarray([...routes], { minLength: routes.length }), paths, (shuffled, segments) => {
      assert.deepEqual(routeMatcher(shuffled)(segments)?.spec, match(segments)?.spec);
    }),
  );
});

test('no target throws, nothing decoded climbs, and labels are few', () => {
  const labels = new Set<string>();
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.webPath(),
        fc.string().map((rest) => `/logs/${rest}`),
      ),
      (target) => {
        const parsed = parseTarget(target);
        if (parsed.kind === 'bad') return;
        assert.ok(parsed.path.startsWith('/') && (parsed.path === '/' || !parsed.path.endsWith('/')));
        assert.ok(
          !parsed.segments.some((one) => one === '..' || one === '.' || one.includes('/') || one.includes('\0')),
        );
        labels.add(pathBucket(parsed.segments));
      },
    ),
  );
  assert.ok(labels.size <= 30, [...labels].join(' '));
});
