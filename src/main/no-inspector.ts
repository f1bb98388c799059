/**
 * SIGUSR1 makes Node open its inspector on a loopback port, where every local process may then run code as this
 * one. A listener of our own replaces Node's. Must be imported first, because the engine listens for the signal from
 * its start.
 */
process.on('SIGUSR1', ignore);

function ignore(): void {}

/** Closes an inspector that the signal opened before this module was loaded; one from the command line stays. */
export async function closeUnaskedInspector(): Promise<void> {
  const asked = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].some((word) => word.includes('--inspect'));
  if (asked) return;
  const { close, url } = await import('node:inspector');
  if (url() !== undefined) close();
}
