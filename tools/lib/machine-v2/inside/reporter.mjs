// Reporter of node:test inside the machine: a line of JSON per test that ended, for the host to tell again.
export default async function* report(events) {
  const above = [];
  for await (const { type, data } of events) {
    if (type === 'test:start') {
      above.length = data.nesting;
      above[data.nesting] = data.name;
    }
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const { error, type: kind } = data.details ?? {};
    const isSum = kind === 'suite' || error?.failureType === 'subtestsFailed';
    // A suite that did not fail by itself is no more than its tests.
    if (isSum && (type === 'test:pass' || error?.failureType === 'subtestsFailed')) continue;
    const line = {
      name: [...above.slice(0, data.nesting), data.name].join(' › '),
      ok: type === 'test:pass',
      skip: data.skip,
      ms: Math.round(data.details?.duration_ms ?? 0),
      error: error === undefined ? undefined : describe(error.cause ?? error),
    };
    yield `${JSON.stringify(line)}\n`;
  }
}

function describe(error) {
  if (error instanceof Error) return error.stack ?? error.message;
  return typeof error === 'string' ? error : JSON.stringify(error);
}
