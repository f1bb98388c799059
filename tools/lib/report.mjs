// Counts what node:test tells and prints failures in full; passing tests cost no line.
export class TestReport {
  passed = 0;
  failed = 0;
  skipped = 0;
  /** @type {string[]} */
  skips = [];

  /** Takes one event of a node:test stream. */
  take(event) {
    const { data } = event;
    if (event.type === 'test:pass') this.#end(data, true);
    else if (event.type === 'test:fail') this.#end(data, false);
    else if (event.type === 'test:stderr' && process.env.TUBELET_TEST_VERBOSE) process.stderr.write(data.message);
    else if (event.type === 'test:stdout') process.stdout.write(indent(data.message));
  }

  #end(data, ok) {
    // A describe block or a file is the sum of its tests, not one more.
    if (data.details?.type === 'suite' && ok) return;
    if (ok && data.skip !== undefined) return this.#skip(data);
    if (ok) return void this.passed++;
    const error = data.details?.error;
    // The parent of a failed test fails too; saying it once is enough.
    if (error?.failureType === 'subtestsFailed') return;
    this.failed++;
    console.log(`\nFAILED ${data.file ?? ''} › ${data.name}`);
    console.log(indent(describe(error?.cause ?? error)));
  }

  #skip(data) {
    const reason = typeof data.skip === 'string' ? data.skip : '';
    if (reason === '') {
      this.failed++;
      console.log(`\nFAILED ${data.name}: skipped without saying why`);
      return;
    }
    this.skipped++;
    this.skips.push(`${data.name}: ${reason}`);
  }
}

function describe(error) {
  if (error instanceof Error) return error.stack ?? error.message;
  if (typeof error === 'object' && error !== null) return error.stack ?? JSON.stringify(error, null, 2);
  return String(error);
}

const indent = (text) => text.replace(/^(?=.)/gm, '    ');
