import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryLog } from '../../testing/memory-log.ts';
import { podFields } from '../../model/pod-log.ts';
import { auditTo, commandWord } from './audit.ts';

test('of a command only the first word', () => {
  const cases: readonly (readonly [query: string, word: string | undefined])[] = [
    ['command=mysql&command=-psecret', 'mysql'],
    ['cmd=mysql%20-psecret', 'mysql'],
    ['cmd=mysql', 'mysql'],
    ['cmd=', ''],
    ['input=1', undefined],
    [`command=${'x'.repeat(5_000)}`, 'x'.repeat(128)],
  ];
  for (const [query, word] of cases) assert.equal(commandWord(new URLSearchParams(query)), word, query);
});

test('one line for authenticated callers; others do not fill the log', () => {
  const log = new MemoryLog();
  const audit = auditTo(log);
  const asked = { address: '10.0.0.1', method: 'POST', path: '/exec/a/b/c', command: 'ls' };
  const about = podFields({ namespace: 'a', name: 'b', uid: 'uid-1' });
  audit({ ...asked, about, caller: { name: 'jane', groups: ['devs'] }, outcome: { kind: 'handedOver' } });
  audit({ ...asked, command: undefined, caller: undefined, outcome: { kind: 'answered', status: 401 } });
  const { command: _command, ...rest } = asked;
  assert.deepEqual(log.entries, [
    {
      severity: 'info',
      message: 'Audit',
      fields: { user: 'jane', groups: ['devs'], ...asked, ...about, outcome: 'handed over' },
    },
    { severity: 'debug', level: 2, message: 'Audit', fields: { user: '', groups: [], ...rest, outcome: '401' } },
  ]);
});
