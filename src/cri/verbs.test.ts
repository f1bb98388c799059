import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ImageServiceService, RuntimeServiceService } from '../gen/cri/api.ts';
import { operationTypes } from './verbs.ts';

test('the verbs are those of the two services', () => {
  const served = [...Object.keys(RuntimeServiceService), ...Object.keys(ImageServiceService)].map((name) =>
    name === 'getContainerEvents' ? 'containerEvents' : name,
  );
  assert.deepEqual(Object.keys(operationTypes).sort(), served.sort());
});

test('no two verbs share an operation type', () => {
  const types = Object.values(operationTypes);
  assert.equal(new Set(types).size, types.length);
  for (const type of types) assert.match(type, /^[a-z]+(_[a-z]+)*$/);
});
