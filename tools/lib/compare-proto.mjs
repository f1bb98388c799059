// Compares messages of ours with those published upstream. Ours may leave out messages, fields and calls, and may spell a
// message in another package; what it has must have upstream's names, numbers and types, or the other side reads garbage.
import { FieldDescriptorProto_Label, FieldDescriptorProto_Type } from '@bufbuild/protobuf/wkt';

const { ENUM, INT32, MESSAGE } = FieldDescriptorProto_Type;

/**
 * @param {readonly import('@bufbuild/protobuf/wkt').FileDescriptorProto[]} ours
 * @param {readonly import('@bufbuild/protobuf/wkt').FileDescriptorProto[]} upstream
 * @returns {{counts: {messages: number, fields: number, enums: number, calls: number}, differences: string[]}}
 */
export function compareProto(ours, upstream) {
  const counts = { messages: 0, fields: 0, enums: 0, calls: 0 };
  const differences = [];
  const theirs = inventory(upstream);
  for (const [name, [message]] of inventory(ours).messages) {
    const candidates = (theirs.messages.get(name) ?? []).map((other) => fieldDifferences(name, message, other));
    const best = candidates.sort((a, b) => a.length - b.length)[0];
    differences.push(...(best ?? [`${name}: no such message upstream`]));
    counts.messages++;
    counts.fields += message.field.length;
  }
  for (const [name, [values]] of inventory(ours).enums) {
    const other = theirs.enums.get(name)?.[0];
    if (other === undefined) differences.push(`${name}: no such enum upstream`);
    else differences.push(...enumDifferences(name, values, other));
    counts.enums++;
  }
  for (const [path, [call]] of inventory(ours).calls) {
    const other = theirs.calls.get(path)?.[0];
    if (other === undefined) differences.push(`${path}: no such call upstream`);
    else if (callText(call) !== callText(other))
      differences.push(`${path}: ${callText(call)}, upstream ${callText(other)}`);
    counts.calls++;
  }
  return { counts, differences };
}

/** Everything by name: messages and enums without their package, calls with it, for it is on the wire. */
function inventory(files) {
  const found = { messages: new Map(), enums: new Map(), calls: new Map() };
  const add = (map, name, value) => map.set(name, [...(map.get(name) ?? []), value]);
  const addMessage = (prefix, message) => {
    const name = prefix + message.name;
    add(found.messages, name, message);
    for (const nested of message.nestedType) addMessage(`${name}.`, nested);
    for (const nested of message.enumType) add(found.enums, `${name}.${nested.name}`, nested);
  };
  for (const file of files) {
    for (const message of file.messageType) addMessage('', message);
    for (const one of file.enumType) add(found.enums, one.name, one);
    for (const service of file.service)
      for (const method of service.method) add(found.calls, `${file.package}.${service.name}/${method.name}`, method);
  }
  return found;
}

function fieldDifferences(message, ours, upstream) {
  return ours.field.flatMap((field) => {
    const name = `${message}.${field.name}`;
    const other = upstream.field.find((candidate) => candidate.name === field.name);
    if (other === undefined) return [`${name}: no such field upstream`];
    const found = [];
    if (field.number !== other.number) found.push(`${name}: number ${field.number}, upstream ${other.number}`);
    if (!sameType(field, other)) found.push(`${name}: ${typeText(field)}, upstream ${typeText(other)}`);
    return found;
  });
}

/** An enum is an int32 on the wire, and may be one of ours that is not spelt out. */
function sameType(field, other) {
  return typeText(field) === typeText(other) || (field.type === INT32 && other.type === ENUM && isSingle(field, other));
}

const isSingle = (...fields) => fields.every(({ label }) => label !== FieldDescriptorProto_Label.REPEATED);

function typeText({ label, type, typeName }) {
  const repeated = label === FieldDescriptorProto_Label.REPEATED ? 'repeated ' : '';
  if (type !== MESSAGE && type !== ENUM) return `${repeated}${FieldDescriptorProto_Type[type].toLowerCase()}`;
  return `${repeated}${lastWord(typeName)}`;
}

function enumDifferences(name, ours, upstream) {
  return ours.value.flatMap((value) => {
    const other = upstream.value.find((candidate) => candidate.name === value.name);
    if (other?.number === value.number) return [];
    return [`${name}.${value.name}: ${value.number}, upstream ${other?.number ?? 'not there'}`];
  });
}

function callText({ clientStreaming, serverStreaming, inputType, outputType }) {
  const stream = (flag) => (flag ? 'stream ' : '');
  return `${stream(clientStreaming)}${lastWord(inputType)} -> ${stream(serverStreaming)}${lastWord(outputType)}`;
}

const lastWord = (typeName) => typeName.split('.').at(-1);
