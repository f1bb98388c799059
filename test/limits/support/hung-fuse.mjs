// A FUSE server of this test alone: hung-fuse.mjs FOLDER. It mounts itself there, prints "mounted", takes requests, and
// answers none of them before it reads "answer" on its standard input, and none after "hang". When that input ends, or the process is killed,
// the kernel closes the connection: then nothing that waits for it waits any longer.
import { closeSync, openSync, read, writeSync } from 'node:fs';
import koffi from 'koffi';

const [folder] = process.argv.slice(2);
const codes = { lookup: 1, forget: 2, getattr: 3, statfs: 17, init: 26, interrupt: 36, batchForget: 42 };
const headerBytes = 40;
const folderMode = 0o040755;
const notImplemented = -38;

const device = openSync('/dev/fuse', 'r+');
const libc = koffi.load(null);
const mount = libc.func('int mount(const char *s, const char *t, const char *f, unsigned long n, const char *d)');
const umount2 = libc.func('int umount2(const char *t, int flags)');
const options = `fd=${device},rootmode=40000,user_id=0,group_id=0,allow_other`;
if (mount('hung-server:/export', folder, 'fuse.hung', 0, options) !== 0) {
  throw new Error(`cannot mount FUSE on ${folder}: error ${koffi.errno()}`);
}

let answers = false;
const held = [];
const buffer = Buffer.alloc(1 << 18);

function reply(unique, error, payload = Buffer.alloc(0)) {
  const header = Buffer.alloc(16);
  header.writeUInt32LE(16 + payload.length, 0);
  header.writeInt32LE(error, 4);
  header.writeBigUInt64LE(unique, 8);
  try {
    writeSync(device, Buffer.concat([header, payload]));
  } catch (error_) {
    // Whoever asked was killed meanwhile.
    if (error_.code !== 'ENOENT') throw error_;
  }
}

/** Every name is an empty folder. */
function attributes(ino) {
  const bytes = Buffer.alloc(88);
  bytes.writeBigUInt64LE(ino, 0);
  bytes.writeUInt32LE(folderMode, 60);
  bytes.writeUInt32LE(2, 64);
  bytes.writeUInt32LE(4_096, 80);
  return bytes;
}

function answer({ code, unique, nodeId }) {
  if (code === codes.getattr) return reply(unique, 0, Buffer.concat([Buffer.alloc(16), attributes(nodeId)]));
  if (code === codes.lookup) {
    const entry = Buffer.alloc(40);
    entry.writeBigUInt64LE(nodeId + 1n, 0);
    return reply(unique, 0, Buffer.concat([entry, attributes(nodeId + 1n)]));
  }
  if (code === codes.statfs) return reply(unique, 0, Buffer.alloc(80));
  return reply(unique, notImplemented);
}

function take(request) {
  const { code, unique } = request;
  if (code === codes.forget || code === codes.batchForget || code === codes.interrupt) return;
  if (code === codes.init) {
    const accepted = Buffer.alloc(64);
    accepted.writeUInt32LE(7, 0);
    accepted.writeUInt32LE(31, 4);
    accepted.writeUInt32LE(4_096, 20);
    reply(unique, 0, accepted);
    process.stdout.write('mounted\n');
  } else if (answers) answer(request);
  else held.push(request);
}

function next() {
  read(device, buffer, 0, buffer.length, null, (error, bytes) => {
    if (error !== null) return error.code === 'ENOENT' || error.code === 'EINTR' ? next() : process.exit(0);
    if (bytes >= headerBytes) {
      take({ code: buffer.readUInt32LE(4), unique: buffer.readBigUInt64LE(8), nodeId: buffer.readBigUInt64LE(16) });
    }
    return next();
  });
}
next();

process.stdin.setEncoding('utf8').on('data', (text) => {
  answers = text.includes('answer');
  if (!answers) return;
  for (const request of held.splice(0)) answer(request);
});
process.stdin.on('end', () => {
  const detach = 2;
  umount2(folder, detach);
  closeSync(device);
  process.kill(process.pid, 'SIGKILL');
});
