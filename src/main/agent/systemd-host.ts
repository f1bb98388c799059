import { lstatSync } from 'node:fs';
import type { Component } from '../../base/component.ts';
import { openSystemd } from '../../dbus/index.ts';
import { fdSockets } from '../../host/index.ts';
import type { CommonPorts } from '../../model/common-ports.ts';
import type { Host, Platform } from './platform.ts';

/** There while systemd is the first process. */
const bootedWithSystemd = '/run/systemd/system';

/** systemd and logind; undefined on a machine that was not booted with systemd. Nothing is connected yet. */
export function systemdHost(
  { clock, log, calls }: Pick<CommonPorts, 'clock' | 'log' | 'calls'>,
  environment: Platform['env'],
): (NonNullable<Host['systemd']> & { readonly component: Component }) | undefined {
  if (lstatSync(bootedWithSystemd, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
  const uid = process.geteuid?.() ?? 0;
  const { units, logind, close } = openSystemd({
    clock,
    log,
    calls,
    environment,
    uid,
    openWithDescriptors: fdSockets(clock),
  });
  return { units, logind, component: { name: 'systemd', start: async () => {}, stop: async () => close() } };
}
