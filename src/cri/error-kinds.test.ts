import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { grpcErrorText, TubeletError, type ErrorKind } from '../base/errors.ts';
import { kindOfGrpcCode, readableDetails, verbError } from './error-kinds.ts';

function grpcError(code: status, details: string): Error {
  return Object.assign(new Error(`${code} CODE: ${details}`), { code, details });
}

test('every gRPC code has a kind', () => {
  const kinds: Record<keyof typeof status, ErrorKind> = {
    OK: 'internal',
    CANCELLED: 'cancelled',
    UNKNOWN: 'internal',
    INVALID_ARGUMENT: 'invalid',
    DEADLINE_EXCEEDED: 'timeout',
    NOT_FOUND: 'notFound',
    ALREADY_EXISTS: 'alreadyExists',
    PERMISSION_DENIED: 'denied',
    RESOURCE_EXHAUSTED: 'exhausted',
    FAILED_PRECONDITION: 'conflict',
    ABORTED: 'conflict',
    OUT_OF_RANGE: 'internal',
    UNIMPLEMENTED: 'unsupported',
    INTERNAL: 'internal',
    UNAVAILABLE: 'unavailable',
    DATA_LOSS: 'internal',
    UNAUTHENTICATED: 'denied',
  };
  for (const [name, kind] of Object.entries(kinds)) {
    assert.equal(kindOfGrpcCode(status[name as keyof typeof status]), kind, name);
  }
  assert.equal(kindOfGrpcCode(99), 'internal');
});

test("the error has the verb, the runtime's words without the code, and the cause", () => {
  const cause = grpcError(status.NOT_FOUND, 'no such container');
  const error = verbError('containerStatus', cause);
  assert.ok(error instanceof TubeletError);
  assert.equal(error.kind, 'notFound');
  assert.equal(error.message, 'containerStatus: no such container');
  assert.equal(error.cause, cause);
});

test("the error has the code's name, as other programs print it", () => {
  const names = [status.NOT_FOUND, status.UNKNOWN, status.CANCELLED, status.DEADLINE_EXCEEDED].map(
    (code) => verbError('execSync', grpcError(code, 'words')).code,
  );
  assert.deepEqual(names, ['NotFound', 'Unknown', 'Canceled', 'DeadlineExceeded']);
  const error = verbError('execSync', grpcError(status.NOT_FOUND, 'no task'));
  assert.equal(grpcErrorText(error), 'rpc error: code = NotFound desc = no task');
  assert.equal(grpcErrorText(new TubeletError('internal', 'ours')), 'ours');
});

test('a name that is taken is distinguished from other failures', () => {
  const words = 'failed to reserve sandbox name "a_b_c_0": name "a_b_c_0" is reserved for "0123"';
  assert.equal(verbError('runPodSandbox', grpcError(status.UNKNOWN, words)).kind, 'alreadyExists');
  assert.equal(verbError('runPodSandbox', grpcError(status.FAILED_PRECONDITION, words)).kind, 'alreadyExists');
  assert.equal(verbError('runPodSandbox', grpcError(status.UNAVAILABLE, words)).kind, 'unavailable');
  assert.equal(verbError('runPodSandbox', grpcError(status.UNKNOWN, 'name is reserved')).kind, 'internal');
});

test('a stream reset by the runtime means that the runtime is unavailable', () => {
  const reset = grpcError(status.CANCELLED, 'Call cancelled');
  assert.equal(verbError('containerEvents', reset).kind, 'unavailable');
  assert.equal(verbError('containerEvents', grpcError(status.CANCELLED, 'context canceled')).kind, 'cancelled');
});

test('reasons of a cancelled call: our own keep their kind, others become `cancelled`', () => {
  const mine = verbError('execSync', new TubeletError('timeout', 'no answer within 2 s'));
  assert.deepEqual([mine.kind, mine.message], ['timeout', 'execSync: no answer within 2 s']);
  const reason = new Error('shutting down');
  const given = verbError('execSync', reason, AbortSignal.abort(reason));
  assert.deepEqual([given.kind, given.message, given.cause], ['cancelled', 'execSync: given up by the caller', reason]);
  const late = new DOMException('late', 'TimeoutError');
  assert.equal(verbError('execSync', late, AbortSignal.abort(late)).kind, 'timeout');
  assert.equal(verbError('execSync', AbortSignal.abort().reason).kind, 'cancelled');
  assert.deepEqual(verbError('execSync', 'text').message, 'execSync: text');
});

test('status texts are decoded as far as they can be', () => {
  assert.equal(readableDetails('disk 100% full, %41'), 'disk 100% full, %41');
  assert.equal(readableDetails('plain'), 'plain');
  assert.equal(readableDetails('caf%C3%A9 cut %E2%82'), 'café cut �');
  assert.equal(readableDetails(''), 'the runtime gave no reason');
});
