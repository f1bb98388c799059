// npm run proto: compares the messages in proto/ with those published upstream, and fails where they differ.
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compareProto } from './lib/compare-proto.mjs';
import {
  buildDescriptors,
  downloadModules,
  moduleOf,
  protoSources,
  upstreamDescriptors,
} from './lib/proto-sources.mjs';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const known = new Set(protoSources.map(({ ours }) => ours));
const files = readdirSync(`${root}/proto`, { recursive: true }).filter((path) => path.endsWith('.proto'));
const unknown = files.filter((path) => !known.has(path));
if (unknown.length > 0) fail(`${unknown.join(', ')}: say in tools/lib/proto-sources.mjs where it is published`);

let downloaded;
try {
  downloaded = downloadModules(root);
} catch (error) {
  console.error(`proto: not compared: ${error.message}`);
  process.exit(1);
}
for (const { ours, upstream } of protoSources) {
  const here = buildDescriptors(root, `${root}/proto`, ours).filter(({ name }) => name === ours);
  const { counts, differences } = compareProto(here, upstreamDescriptors(root, upstream, downloaded));
  const module = moduleOf(upstream[0]);
  const { messages, fields, enums, calls } = counts;
  const compared = `${messages} messages, ${fields} fields, ${enums} enums, ${calls} calls`;
  const result = differences.length === 0 ? 'as in' : `${differences.length} differences from`;
  console.log(`proto/${ours}: ${compared}: ${result} ${module} ${downloaded.get(module).version}`);
  for (const difference of differences) fail(`  ${difference}`);
}

function fail(message) {
  console.error(message);
  process.exitCode = 1;
}
