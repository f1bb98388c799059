// npm run runtimes: compiles the container runtimes that tests need besides Debian's, so that tests start at once, and says
// where they are.
import { runtimePrograms } from './lib/runtime-programs.mjs';

const programs = runtimePrograms();
if ('why' in programs) {
  console.error(`no container runtimes here: ${programs.why}`);
  process.exit(1);
}
for (const [name, folder] of Object.entries(programs.folders)) console.log(`${name} ${folder}`);
