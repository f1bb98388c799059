/**
 * SIGUSR1 makes Node open its inspector on a port of the loopback, where every local process may then run code as this
 * one. A listener of our own takes the signal away from it. Imported before anything else, because the engine listens
 * for the signal from its first moment.
 */
process.on('SIGUSR1', ignore);

function ignore(): void {}

/** Closes an inspector that the signal opened before this module was there; one that the command line asked for stays. */
export async function closeUnaskedInspector(): Promise<void> {
  const asked = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].some((word) => word.includes('--inspect'));
  if (asked) return;
  const { close, url } = await import('node:inspector');
  if (url() !== undefined) close();
}
