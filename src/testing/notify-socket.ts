import assert from 'node:assert/strict';
import { closeSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { load } from 'koffi';
import { unixAddress } from '../host/sd-notify.ts';

/** A service manager that listens on a real socket; `receive` answers the datagrams that have come. */
export function notifySocket(context: TestContext, name: string): () => string[] {
  const library = load(null);
  const socket = library.func('int socket(int domain, int type, int protocol)');
  const bind = library.func('int bind(int fd, const void *address, uint32_t length)');
  const receive = library.func('long recv(int fd, _Out_ void *buffer, size_t length, int flags)');
  const fd = socket(1, 2, 0) as number;
  context.after(() => closeSync(fd));
  const address = unixAddress(name);
  assert.equal(bind(fd, address, address.length), 0);
  return () => {
    const messages: string[] = [];
    for (;;) {
      const buffer = Buffer.alloc(256);
      const length = Number(receive(fd, buffer, buffer.length, 0x40));
      if (length < 0) return messages;
      messages.push(buffer.toString('utf8', 0, length));
    }
  };
}
