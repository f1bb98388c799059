import { connect } from 'node:net';
import { TubeletError } from '../base/errors.ts';
import type { OpenTransport } from './ports.ts';

/** Sockets as Node has them, which cannot receive descriptors. */
export const openSocket: OpenTransport = (socketName, events) =>
  new Promise((resolve, reject) => {
    const socket = connect(socketName.replace(/^@/, '\0'));
    let lost: Error | undefined;
    socket.once('connect', () => {
      socket.on('data', (bytes) => events.onBytes(bytes, []));
      // No end without a beginning: an error before that rejects the promise alone.
      socket.once('close', () => events.onClosed(lost));
      resolve({
        write: (bytes) => void socket.write(bytes),
        close: () => void socket.destroy(),
      });
    });
    socket.on('error', (error: Error) => {
      lost = error;
      reject(new TubeletError('unavailable', `cannot connect to ${socketName}: ${error.message}`, { cause: error }));
    });
  });
