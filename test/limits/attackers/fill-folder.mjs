// Makes many names in one folder: `fill-folder.mjs FOLDER COUNT KIND`, where a kind says what the names are of.
// files: empty files; links: every second name is a further one of the file before; folders: each with a file in it.
import { closeSync, linkSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';

const [folder, words, kind] = process.argv.slice(2);
const count = Number(words);
const began = performance.now();
const touch = (path) => closeSync(openSync(path, 'w'));

for (let number = 0; number < count; number++) {
  const path = join(folder, `name-of-some-length-${number}`);
  if (kind === 'folders') {
    mkdirSync(path);
    touch(join(path, 'file'));
  } else if (kind === 'links' && number % 2 === 1) {
    linkSync(join(folder, `name-of-some-length-${number - 1}`), path);
  } else touch(path);
}
process.stdout.write(JSON.stringify({ count, ms: Math.round(performance.now() - began) }));
