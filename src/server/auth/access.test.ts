import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import type { NodeAccess } from '../../model/caller.ts';
import { routeTable } from '../route-table.ts';
import type { RouteSpec } from '../route.ts';
import { accessFor, decideAccess, verbOf } from './access.ts';
import type { Authorizer } from './ports.ts';

const caller = { name: 'ann', groups: [] };
const { signal } = new AbortController();
const strict = { fineGrained: true, upstreamVerbs: false };

/** Answers by `verb subresource`, and remembers what was asked. */
function scripted(answers: Readonly<Record<string, boolean | Error>>) {
  const asked: string[] = [];
  const authorizer: Authorizer = {
    async authorize(_caller, { verb, subresource }: NodeAccess) {
      const question = `${verb} ${subresource}`;
      asked.push(question);
      const answer = answers[question] ?? false;
      if (answer instanceof Error) throw answer;
      return { allowed: answer, reason: `because of ${question}` };
    },
  };
  return { authorizer, asked };
}

test('the verb of a method', () => {
  const table = {
    GET: 'get',
    POST: 'create',
    PUT: 'update',
    PATCH: 'patch',
    DELETE: 'delete',
    HEAD: '',
    get: '',
    X: '',
  };
  for (const [method, verb] of Object.entries(table)) assert.equal(verbOf(method), verb, method);
  assert.equal(verbOf('constructor'), '');
});

test('the page that holds every Secret needs what running commands needs, by whatever way it is asked', () => {
  const { heapSnapshot, exec } = routeTable;
  assert.deepEqual(heapSnapshot.methods, ['POST']);
  assert.deepEqual(heapSnapshot.right, exec.right);
  // Not even who is as lenient as upstream lets a reader have it.
  for (const upstreamVerbs of [false, true]) {
    const access = accessFor(heapSnapshot.right, 'POST', { fineGrained: true, upstreamVerbs });
    assert.deepEqual(access, { verb: 'create', subresources: ['proxy'] });
  }
  assert.deepEqual(heapSnapshot.switches, ['debugging', 'profiling']);
});

test('what upstream asks for each path, with the gate on and off', () => {
  const table: Readonly<Record<string, readonly [string, string]>> = {
    '/pods': ['pods proxy', 'proxy'],
    '/runningpods': ['pods proxy', 'proxy'],
    '/healthz': ['healthz proxy', 'proxy'],
    '/healthz/syncloop': ['healthz proxy', 'proxy'],
    '/configz': ['configz proxy', 'proxy'],
    '/stats/summary': ['stats', 'stats'],
    '/metrics': ['metrics', 'metrics'],
    '/metrics/cadvisor': ['metrics', 'metrics'],
    '/logs': ['log', 'log'],
    '/logs/{file...}': ['log', 'log'],
    '/checkpoint/{namespace}/{pod}/{container}': ['checkpoint', 'checkpoint'],
    '/statusz': ['statusz', 'statusz'],
    '/flagz': ['configz', 'configz'],
    '/exec/{namespace}/{pod}/{container}': ['proxy', 'proxy'],
    '/containerLogs/{namespace}/{pod}/{container}': ['proxy', 'proxy'],
    '/debug/pprof/{name}': ['proxy', 'proxy'],
  };
  const routes: readonly RouteSpec[] = Object.values(routeTable);
  for (const [path, wanted] of Object.entries(table)) {
    const spec = routes.find((route) => route.path === path);
    assert.ok(spec, path);
    const found = [true, false].map((fineGrained) =>
      accessFor(spec.right, 'GET', { fineGrained, upstreamVerbs: true }).subresources.join(' '),
    );
    assert.deepEqual(found, wanted, path);
  }
});

test('running something needs create too, unless as lenient as upstream', () => {
  const { right } = routeTable.exec;
  const subresources = ['proxy'];
  assert.deepEqual(accessFor(right, 'GET', strict), { verb: 'get', subresources, alsoVerb: 'create' });
  assert.deepEqual(accessFor(right, 'POST', strict), { verb: 'create', subresources });
  assert.deepEqual(accessFor(right, 'GET', { ...strict, upstreamVerbs: true }), { verb: 'get', subresources });
});

test('what is asked, in which order, and what comes of it', async () => {
  const failure = new TubeletError('unavailable', 'no answer');
  const pods = accessFor(routeTable.pods.right, 'GET', strict);
  const exec = accessFor(routeTable.exec.right, 'GET', strict);
  const head = accessFor(routeTable.metrics.right, 'HEAD', strict);
  const both = '(user=ann, verb=get, resource=nodes, subresource(s)=[pods proxy])';
  const create = '(user=ann, verb=create, resource=nodes, subresource(s)=[proxy])';
  const why = (...questions: readonly string[]) => questions.map((question) => `because of ${question}`).join('; ');
  const table = [
    [pods, { 'get pods': true }, ['get pods'], { kind: 'allowed' }],
    [pods, { 'get proxy': true }, ['get pods', 'get proxy'], { kind: 'allowed' }],
    [
      pods,
      {},
      ['get pods', 'get proxy'],
      { kind: 'denied', body: `Forbidden ${both}`, reason: why('get pods', 'get proxy') },
    ],
    [
      pods,
      { 'get pods': failure },
      ['get pods'],
      { kind: 'error', body: `Authorization error ${both}`, error: failure },
    ],
    [exec, { 'get proxy': true, 'create proxy': true }, ['get proxy', 'create proxy'], { kind: 'allowed' }],
    [
      exec,
      { 'get proxy': true },
      ['get proxy', 'create proxy'],
      { kind: 'denied', body: `Forbidden ${create}`, reason: why('create proxy') },
    ],
    [
      exec,
      { 'get proxy': true, 'create proxy': failure },
      ['get proxy', 'create proxy'],
      { kind: 'error', body: `Authorization error ${create}`, error: failure },
    ],
    [
      head,
      {},
      [' metrics'],
      {
        kind: 'denied',
        body: 'Forbidden (user=ann, verb=, resource=nodes, subresource(s)=[metrics])',
        reason: why(' metrics'),
      },
    ],
  ] as const;
  for (const [access, answers, questions, wanted] of table) {
    const { authorizer, asked } = scripted(answers);
    assert.deepEqual(await decideAccess(authorizer, caller, access, signal), wanted);
    assert.deepEqual(asked, questions);
  }
});
