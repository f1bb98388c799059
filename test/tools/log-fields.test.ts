import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSync } from 'oxc-parser';
import { logFieldProblems } from '../../tools/lib/log-fields.mjs';

const found = (text: string): string[] =>
  logFieldProblems(parseSync, 'a.ts', text).map(({ line, text: problem }) => `${line} ${problem.split(':')[0]}`);

test('fields that are spelt in another way are found, wherever they are given to a logger', () => {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ["log.info('Gone', { pod: name })", ['1 pod']],
    ["this.#deps.log.warn('Gone', { podUID: uid, why })", ['1 podUID', '1 why']],
    ["log.debug(2, 'Gone', { containerId: id, error })", ['1 containerId', '1 error']],
    ["log.error(error, 'Gone', {\n  pods,\n  problem: x,\n})", ['2 pods', '3 problem']],
    ["agentLog.info('Gone', { ...(uid && { uid }), ...(a ? { 'podUid': a } : {}) })", ['1 uid', '1 podUid']],
    ["const fields = { fullName };\nlog.info('Gone', fields)", ['1 fullName']],
    ["const fields = { why };\nlog.info('Gone', { ...fields, path })", ['1 why']],
    ["log.with({ pod: name }).info('Gone')", ['1 pod']],
  ];
  for (const [text, expected] of rows) assert.deepEqual(found(text), expected, text);
});

test('other fields and other objects are left alone', () => {
  const rows = [
    "log.info('Gone', { ...podFields(pod), containerName: name, containerID: id, err: messageOf(error), reason })",
    "log.info('Gone', podFields({ namespace, name, uid }))",
    'events.record(pod, { why, problem, uid })',
    "catalog.info('Gone', { why })",
    "log.error(error, 'Gone')",
    "const fields = { why };\nother(fields);\nlog.info('Gone', { path })",
  ];
  for (const text of rows) assert.deepEqual(found(text), [], text);
});
