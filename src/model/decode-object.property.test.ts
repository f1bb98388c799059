import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseYamlDocuments, YamlError } from '../base/yaml.ts';
import { fieldTable } from '../gen/kubernetes/fields.ts';
import { decodeObject, type DecodableType } from './decode-object.ts';
import { defaultPod } from './pod-defaults.ts';
import { toStaticPod } from './static-pod.ts';
import { validatePod } from './validation/index.ts';

const types = Object.keys(fieldTable) as DecodableType[];
const fieldNames = [...new Set(types.flatMap((type) => Object.keys(fieldTable[type])))];

/** Trees whose keys are mostly field names, so that they reach deep into the table. */
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 6, depthSize: 'medium' },
    fc.constantFrom<unknown>(null, true, 0, -1, 80, 2 ** 40, 1.5, '', 'x', '1Gi', '-5', 'Always', '../a'),
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...fieldNames) }, fc.string()), tie('tree'), {
      maxKeys: 5,
    }),
  ),
}));

const origin = { nodeName: 'Node', source: 'file', origin: '/x', seen: 'now' } as const;

test('any data of any type decodes without a throw, and what was decoded decodes to itself', () => {
  fc.assert(
    fc.property(fc.constantFrom(...types), fc.oneof(tree, fc.jsonValue()), (type, value) => {
      const { object } = decodeObject(type, value, () => 1);
      const again = decodeObject(type, object, () => 1);
      assert.deepEqual(again.object, object);
      assert.deepEqual(again.problems, []);
    }),
    { numRuns: 500 },
  );
});

test('any text is read, defaulted and validated or refused, never thrown at', () => {
  const podLike = fc.record({
    metadata: tree,
    spec: fc.record({ containers: fc.array(tree, { maxLength: 3 }), volumes: tree }),
  });
  fc.assert(
    fc.property(
      fc.oneof(
        podLike.map((value) => JSON.stringify(value)),
        fc.string(),
      ),
      (text) => {
        try {
          for (const document of parseYamlDocuments(text, { onDuplicateKey: () => {} })) {
            const { object } = decodeObject('Pod', document.value, (path) => document.lineOf(path));
            for (const fault of validatePod(toStaticPod(defaultPod(object), origin))) {
              assert.ok(document.lineOf(fault.path) >= 1);
            }
          }
        } catch (error) {
          if (!(error instanceof YamlError)) throw error;
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('defaulting twice is defaulting once, and the input stays as it was', () => {
  fc.assert(
    fc.property(fc.record({ metadata: tree, spec: tree }), (value) => {
      const { object } = decodeObject('Pod', value, () => 1);
      const before = structuredClone(object);
      const once = defaultPod(object);
      assert.deepEqual(object, before);
      assert.deepEqual(defaultPod(once), once);
    }),
    { numRuns: 300 },
  );
});
