import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { compareProto } from '../../tools/lib/compare-proto.mjs';
import { buildDescriptors } from '../../tools/lib/proto-sources.mjs';

const upstream = `
  message Pod {
    string name = 1; bytes data = 2; Kind kind = 3; repeated Pod parts = 4; map<string, int64> sizes = 5;
    message Inner { uint32 pid = 1; }
    Inner inner = 6;
    int32 unused = 7;
  }
  message Unused {}
  enum Kind { NONE = 0; STATIC = 1; }
  service Pods { rpc Get(Pod) returns (Pod); rpc Watch(Pod) returns (stream Pod); rpc Drop(Pod) returns (Unused); }
`;

function compare(t: { after(end: () => void): void }, ours: string, packageName = 'v1') {
  const described = (body: string, name: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'compare-proto-'));
    t.after(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'api.proto'), `syntax = "proto3";\npackage ${name};\n${body}`);
    return buildDescriptors(process.cwd(), folder);
  };
  return compareProto(described(ours, packageName), described(upstream, 'v1'));
}

test('a part of what is upstream, with an enum as its number, is no difference', (t) => {
  const ours = `
    message Pod {
      int32 kind = 3; string name = 1; map<string, int64> sizes = 5;
      message Inner { uint32 pid = 1; }
      Inner inner = 6;
    }
    service Pods { rpc Watch(Pod) returns (stream Pod); }
  `;
  const { counts, differences } = compare(t, ours);
  assert.deepEqual(differences, []);
  // An entry of a map is a message of its own.
  assert.deepEqual(counts, { messages: 3, fields: 7, enums: 0, calls: 1 });
});

test('each difference is named', (t) => {
  const ours = `
    message Pod {
      string name = 2; string data = 12; Pod parts = 4; map<string, int32> sizes = 5; string other = 8;
      message Inner { int32 pid = 1; }
    }
    message Own {}
    enum Kind { NONE = 0; MIRROR = 1; STATIC = 2; }
    enum Other { OTHER = 0; }
    service Pods { rpc Get(stream Pod) returns (Pod); rpc Drop(Pod) returns (Pod); rpc List(Pod) returns (Pod); }
  `;
  assert.deepEqual(compare(t, ours).differences, [
    'Pod.name: number 2, upstream 1',
    'Pod.data: number 12, upstream 2',
    'Pod.data: string, upstream bytes',
    'Pod.parts: Pod, upstream repeated Pod',
    'Pod.other: no such field upstream',
    'Pod.SizesEntry.value: int32, upstream int64',
    'Pod.Inner.pid: int32, upstream uint32',
    'Own: no such message upstream',
    'Kind.MIRROR: 1, upstream not there',
    'Kind.STATIC: 2, upstream 1',
    'Other: no such enum upstream',
    'v1.Pods/Get: stream Pod -> Pod, upstream Pod -> Pod',
    'v1.Pods/Drop: Pod -> Pod, upstream Pod -> Unused',
    'v1.Pods/List: no such call upstream',
  ]);
});

test('a call has its package in its path', (t) => {
  const ours = 'message Pod {} service Pods { rpc Get(Pod) returns (Pod); }';
  assert.deepEqual(compare(t, ours, 'v2').differences, ['v2.Pods/Get: no such call upstream']);
});
