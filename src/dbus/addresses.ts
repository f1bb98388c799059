const systemBus = 'unix:path=/var/run/dbus/system_bus_socket';
/** Where systemd itself serves root, without a bus. */
export const systemdSocket = '/run/systemd/private';

/** The sockets at which the system's bus may be, as transports name them. Only unix sockets are asked. */
export function systemBusSockets(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  return socketsOf(environment.DBUS_SYSTEM_BUS_ADDRESS || systemBus);
}

/** Of `unix:path=…,guid=…;unix:abstract=…`. */
function socketsOf(addresses: string): readonly string[] {
  return addresses.split(';').flatMap((address) => {
    const [, pairs] = /^unix:(.*)$/s.exec(address) ?? [];
    for (const pair of pairs?.split(',') ?? []) {
      const [, key, escaped = ''] = /^(path|abstract)=(.+)$/s.exec(pair) ?? [];
      const value = escaped.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
      if (key !== undefined) return [key === 'path' ? value : `@${value}`];
    }
    return [];
  });
}
