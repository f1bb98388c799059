import { TubeletError, type ErrorKind } from '../base/errors.ts';
import type { Message } from './message.ts';

const kinds: Readonly<Record<string, ErrorKind>> = {
  'org.freedesktop.systemd1.NoSuchUnit': 'notFound',
  'org.freedesktop.systemd1.UnitExists': 'alreadyExists',
  'org.freedesktop.DBus.Error.AccessDenied': 'denied',
  'org.freedesktop.DBus.Error.InvalidArgs': 'invalid',
  'org.freedesktop.DBus.Error.LimitsExceeded': 'exhausted',
  'org.freedesktop.DBus.Error.UnknownMethod': 'unsupported',
  'org.freedesktop.DBus.Error.UnknownObject': 'notFound',
  'org.freedesktop.DBus.Error.Timeout': 'timeout',
  'org.freedesktop.DBus.Error.TimedOut': 'timeout',
  // The program that should answer is not, or no longer, on the bus.
  'org.freedesktop.DBus.Error.ServiceUnknown': 'unavailable',
  'org.freedesktop.DBus.Error.NameHasNoOwner': 'unavailable',
  'org.freedesktop.DBus.Error.NoReply': 'unavailable',
  'org.freedesktop.DBus.Error.Disconnected': 'unavailable',
};

/** The error that the other side answered, in its own words. */
export function remoteError(message: Message): TubeletError {
  const name = message.errorName ?? '';
  const text = message.signature.startsWith('s') ? message.body()[0] : undefined;
  const said = typeof text === 'string' && text !== '' ? text : name;
  return new TubeletError(kinds[name] ?? 'internal', said, { remoteMessage: said, code: name });
}

export function connectionLost(cause: Error | undefined): TubeletError {
  return new TubeletError('unavailable', 'the connection to D-Bus was lost', { cause });
}
