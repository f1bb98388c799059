// Every line of the log names its pod and its error the same way, so that one search finds all lines about a pod: podFields of
// src/model/pod-log.ts, `containerName` and `containerID`, `err`, `reason`. This finds fields that are spelt in another way
// where they stand in the call of a logger, or in an object of the same file that is given to one.
import { argumentCounts, isLogger, lineCounter, walk } from './log-positions.mjs';

const byHelper = 'name a pod by podFields, podUidFields, fullNameFields or podListFields of src/model/pod-log.ts';
const refusedFields = {
  pod: byHelper,
  podUID: byHelper,
  pods: byHelper,
  podUid: byHelper,
  podName: byHelper,
  podNamespace: byHelper,
  uid: byHelper,
  fullName: byHelper,
  why: 'an error stands under err, the reason of a decision under reason',
  problem: 'an error stands under err, the reason of a decision under reason',
  error: 'an error stands under err',
  containerId: 'the field is containerID',
  podSandboxId: 'the field is podSandboxID',
};

/**
 * The refused fields of a file.
 * @param {typeof import('oxc-parser').parseSync} parseSync
 * @param {string} file
 * @param {string} text of the file
 * @returns {{line: number, text: string}[]}
 */
export function logFieldProblems(parseSync, file, text) {
  if (!/[lL]og\b/.test(text)) return [];
  const { program } = parseSync(file, text);
  const objects = new Map();
  const given = [];
  walk(program, undefined, (node) => {
    if (node.type === 'VariableDeclarator' && node.init?.type === 'ObjectExpression') {
      objects.set(node.id.name, [...(objects.get(node.id.name) ?? []), node.init]);
    }
    const fields = fieldsOf(node);
    if (fields !== undefined) given.push(fields);
  });
  const lineOf = lineCounter(text);
  const refused = new Map();
  for (const { key } of given.flatMap((fields) => propertiesIn(fields, objects))) {
    const name = key.name ?? key.value;
    if (Object.hasOwn(refusedFields, name)) refused.set(key.start, `${name}: ${refusedFields[name]}`);
  }
  return [...refused].sort(([a], [b]) => a - b).map(([at, problem]) => ({ line: lineOf(at), text: problem }));
}

/** The argument of a call of a logger that has the fields. */
function fieldsOf(node) {
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return undefined;
  const { object, property } = node.callee;
  if (!isLogger(object)) return undefined;
  if (property.name === 'with') return node.arguments[0];
  return Object.hasOwn(argumentCounts, property.name) ? node.arguments[argumentCounts[property.name] - 1] : undefined;
}

function propertiesIn(node, objects) {
  switch (node.type) {
    case 'ObjectExpression':
      return node.properties.flatMap((entry) =>
        entry.type === 'SpreadElement' ? propertiesIn(entry.argument, objects) : entry.computed ? [] : [entry],
      );
    case 'Identifier':
      return (objects.get(node.name) ?? []).flatMap((found) => propertiesIn(found, new Map()));
    case 'LogicalExpression':
      return [...propertiesIn(node.left, new Map()), ...propertiesIn(node.right, objects)];
    case 'ConditionalExpression':
      return [...propertiesIn(node.consequent, objects), ...propertiesIn(node.alternate, objects)];
    case 'ParenthesizedExpression':
      return propertiesIn(node.expression, objects);
    default:
      return [];
  }
}
