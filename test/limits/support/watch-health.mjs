// Asks a URL for health four times a second until its standard input ends; then prints the slowest answer and the failures,
// and how late this process itself was at most: so long the machine had no processor for anything new.
//
//   node watch-health.mjs http://127.0.0.1:10248/healthz
const [url = ''] = process.argv.slice(2);
const askEveryMs = 250;
const giveUpMs = 20_000;
const beatMs = 20;
const report = { asked: 0, slowestMs: 0, lateMs: 0, failures: [] };
const input = { isOpen: true };

process.stdin.resume();
process.stdin.once('end', () => (input.isOpen = false));

let beat = performance.now();
setInterval(() => {
  const now = performance.now();
  report.lateMs = Math.max(report.lateMs, now - beat - beatMs);
  beat = now;
}, beatMs);

while (input.isOpen) {
  const began = performance.now();
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(giveUpMs) });
    await answer.text();
    if (answer.status !== 200) report.failures.push(`status ${answer.status}`);
  } catch (error) {
    report.failures.push(String(error.cause?.code ?? error.name));
  }
  const ms = performance.now() - began;
  report.asked++;
  report.slowestMs = Math.max(report.slowestMs, ms);
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, askEveryMs - ms)));
}
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0));
