import type { Logind } from '../model/logind.ts';
import type { SystemdUnits } from '../model/systemd-units.ts';
import { systemBusSockets } from './addresses.ts';
import { dialBus } from './dial.ts';
import { KeptConnection } from './kept-connection.ts';
import { DBusLogind, logindName } from './logind.ts';
import { Manager } from './manager.ts';
import type { BusPorts, OpenTransport } from './ports.ts';
import { openSocket } from './socket-transport.ts';
import { DBusSystemdUnits } from './systemd-units.ts';

interface SystemdOptions extends BusPorts {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly uid: number;
  /** Sockets over which descriptors can come. */
  readonly openWithDescriptors: OpenTransport;
  readonly open?: OpenTransport;
}

/** systemd and logind of this machine; connected to when they are first asked for something. */
export function openSystemd(options: SystemdOptions): {
  readonly units: SystemdUnits;
  readonly logind: Logind;
  readonly close: () => void;
} {
  const { clock, log, calls, uid, openWithDescriptors, open = openSocket } = options;
  const dialOptions = { clock, uid, open, sockets: systemBusSockets(options.environment) };
  const systemd = new KeptConnection({ clock, dial: () => Manager.dial(dialOptions) });
  const logind = new KeptConnection({ clock, dial: () => dialBus(logindName, dialOptions) });
  const dialForDescriptors = () =>
    dialBus(logindName, { ...dialOptions, open: openWithDescriptors, descriptors: true });
  return {
    units: new DBusSystemdUnits({ clock, log, calls, connection: systemd }),
    logind: new DBusLogind({ clock, log, calls, connection: logind, systemd, dialForDescriptors }),
    close: () => {
      systemd.close();
      logind.close();
    },
  };
}
