import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { chooseSubnet, parseCidr } from './subnet.ts';

const octet = fc.integer({ min: 0, max: 255 });
const route = fc
  .tuple(fc.integer({ min: 60, max: 130 }), octet, octet, fc.integer({ min: 10, max: 32 }))
  .map(([second, third, fourth, prefix]) => `10.${second}.${third}.${fourth}/${prefix}`);

test('the chosen subnet overlaps no route', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xff_ff_ff_ff }), fc.array(route, { maxLength: 30 }), (id, taken) => {
      const subnet = chooseSubnet(id.toString(16).padStart(8, '0'), taken);
      if (subnet === undefined) return;
      const chosen = parseCidr(subnet.cidr)!;
      for (const text of taken) {
        const range = parseCidr(text)!;
        assert.ok(range.last < chosen.first || chosen.last < range.first, `${text} and ${subnet.cidr}`);
      }
    }),
  );
});
