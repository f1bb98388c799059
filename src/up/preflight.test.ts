import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkMachine, type MachineFacts } from './preflight.ts';
import { neededPackages } from './programs.ts';

const good: MachineFacts = { platform: 'linux', isRoot: true, missing: [], hasApt: true, hasCgroups: true };
const runc = neededPackages.filter((entry) => entry.name === 'runc');

const cases: readonly { name: string; facts: Partial<MachineFacts>; own?: boolean; want: string[] | RegExp[] }[] = [
  { name: 'all there', facts: {}, want: [] },
  { name: 'packages to install', facts: { missing: runc }, want: ['runc'] },
  {
    name: 'nothing to install for a runtime that is there',
    facts: { missing: runc, hasApt: false },
    own: false,
    want: [],
  },
  { name: 'another system', facts: { platform: 'darwin', isRoot: false }, want: [/needs Linux; this is darwin/] },
  { name: 'not root', facts: { isRoot: false }, want: [/not root/] },
  { name: 'no apt', facts: { missing: runc, hasApt: false }, want: [/missing: runc, and there is no apt-get/] },
  { name: 'apt is not needed when all is there', facts: { hasApt: false }, want: [] },
  {
    name: 'all problems at once',
    facts: { isRoot: false, hasCgroups: false, missing: runc, hasApt: false },
    want: [/not root/, /cgroup/, /apt-get/],
  },
];

for (const { name, facts, own, want } of cases) {
  test(`checkMachine: ${name}`, () => {
    const verdict = checkMachine({ ...good, ...facts }, own ?? true);
    const problems = verdict.ok
      ? verdict.install.map((entry) => entry.name)
      : verdict.problems.map((problem) => problem.what);
    assert.equal(problems.length, want.length, problems.join('; '));
    assert.equal(
      verdict.ok,
      want.every((entry) => typeof entry === 'string'),
    );
    for (const [index, entry] of want.entries()) assert.match(problems[index] ?? '', new RegExp(entry));
    if (!verdict.ok) for (const problem of verdict.problems) assert.notEqual(problem.remedy, '');
  });
}
