import assert from 'node:assert/strict';
import { release } from 'node:os';
import { test } from 'node:test';
import { prettyName, readNodeInfo } from './node-info.ts';

function reader(files: Readonly<Record<string, string>>): (path: string) => Promise<string> {
  return async (path) => {
    const text = files[path];
    if (text === undefined) throw new Error(`no ${path}`);
    return text;
  };
}

test('all files there', async () => {
  const read = reader({
    '/etc/machine-id': '4fa1\n',
    '/sys/class/dmi/id/product_uuid': '8e2a-1\n',
    '/proc/sys/kernel/random/boot_id': 'b00t\n',
    '/etc/os-release': 'ID=debian\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION=12\n',
  });
  assert.deepEqual(await readNodeInfo({ read }), {
    machineId: '4fa1',
    systemUuid: '8e2a-1',
    bootId: 'b00t',
    kernelVersion: release(),
    osImage: 'Debian GNU/Linux 12 (bookworm)',
  });
});

test('the second choice of each, files named by flags, and no file at all', async () => {
  const read = reader({
    '/var/lib/dbus/machine-id': 'dbus',
    '/proc/device-tree/vm,uuid': 'tree\0',
    '/my/boot': 'mine',
    '/usr/lib/os-release': 'NAME=x\n',
  });
  const info = await readNodeInfo({ read, bootIdFile: '/my/boot' });
  assert.deepEqual([info.machineId, info.systemUuid, info.bootId, info.osImage], ['dbus', 'tree', 'mine', 'Linux']);
  const empty = await readNodeInfo({ read: reader({}) });
  assert.deepEqual([empty.machineId, empty.systemUuid, empty.bootId, empty.osImage], ['', '', '', 'Unknown']);
});

test('names with and without quotes', () => {
  assert.equal(prettyName("PRETTY_NAME='Alpine Linux v3'"), 'Alpine Linux v3');
  assert.equal(prettyName('PRETTY_NAME=Arch'), 'Arch');
});

test('this machine has a boot id', async () => {
  assert.match((await readNodeInfo()).bootId, /^[0-9a-f-]{36}$/);
});
