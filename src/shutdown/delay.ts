import { Duration } from '../base/duration.ts';

/** Where logind is configured to wait longer, as a Go kubelet does. */
export const dropIn = {
  folder: '/etc/systemd/logind.conf.d',
  path: '/etc/systemd/logind.conf.d/99-kubelet.conf',
  folderMode: 0o755,
  mode: 0o644,
} as const;

/** The drop-in that has logind wait that long. */
export function dropInText(seconds: number): string {
  return `# Kubelet logind override\n[Login]\nInhibitDelayMaxSec=${seconds}\n`;
}

/** Why the delay that logind grants is not enough; undefined when it is. Times are Go durations, as in configurations. */
export function tooShort(neededSeconds: number, grantedMs: number): string | undefined {
  if (grantedMs >= neededSeconds * 1_000) return undefined;
  return (
    `node shutdown manager was unable to update logind InhibitDelayMaxSec to ${Duration.ofSeconds(neededSeconds).toString()} ` +
    `(ShutdownGracePeriod), current value of InhibitDelayMaxSec (${Duration.ofMillis(grantedMs).toString()}) is less than requested ` +
    'ShutdownGracePeriod'
  );
}
