import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TubeletError } from '../../base/errors.ts';
import { containerId } from '../../base/ids.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { ContainerLogReader } from './log-reader.ts';
import type { ContainerLogFiles } from './ports.ts';

const path = '/logs/0.log';
const options = { follow: true, previous: false, timestamps: false };

interface MemoryFile {
  readonly identity: string;
  bytes: Buffer;
  /** How much was written before it; nothing while the runtime has not turned to it. */
  begins: number | undefined;
}

/** A folder in memory in which something may happen between any two calls of the reader. */
class Folder {
  readonly names = new Map<string, MemoryFile>();
  /** What the runtime writes to; it may have been put aside. */
  current: MemoryFile;
  #files = 0;
  #lines = 0;
  #stamps = 0;
  all = '';
  /** What was opened last before anything was read: from there on nothing may be missing. */
  first: MemoryFile | undefined;
  #reading = false;
  readonly openFiles = new Set<object>();

  readonly between: () => void;

  constructor(between: () => void) {
    this.between = between;
    this.current = this.#make();
    this.current.begins = 0;
  }

  say(): void {
    const text = `line ${++this.#lines}\n`;
    this.current.bytes = Buffer.concat([this.current.bytes, Buffer.from(`2026-01-01T00:00:00Z stdout F ${text}`)]);
    this.all += text;
  }

  rename(): void {
    const file = this.names.get('0.log');
    // A log is not rotated again before the runtime has reopened the new file.
    if (file === undefined || file !== this.current) return;
    this.names.delete('0.log');
    this.names.set(`0.log.20260101-${String(++this.#stamps).padStart(6, '0')}`, file);
  }

  /** The runtime begins a file; it turns to it with the next `say` only if `turn`. */
  reopen(turn: boolean): void {
    const file = this.names.get('0.log') ?? this.#make();
    if (!turn) return;
    this.current = file;
    file.begins ??= this.all.length;
  }

  #make(): MemoryFile {
    const file = { identity: String(++this.#files), bytes: Buffer.alloc(0), begins: undefined };
    this.names.set('0.log', file);
    return file;
  }

  readonly files: ContainerLogFiles = {
    resolve: async (at) => at,
    watch: () => () => {},
    list: async () => {
      this.between();
      return [...this.names.keys()];
    },
    stat: async (at) => {
      this.between();
      const file = this.names.get(at.slice('/logs/'.length));
      return file && { identity: file.identity, size: file.bytes.length };
    },
    open: async (at) => {
      this.between();
      const file = this.names.get(at.slice('/logs/'.length));
      if (file === undefined) throw new TubeletError('notFound', at);
      if (!this.#reading) this.first = file;
      const handle = {
        identity: file.identity,
        size: async () => file.bytes.length,
        read: async (buffer: Buffer, position: number, length: number) => {
          this.#reading = true;
          this.between();
          return file.bytes.copy(buffer, 0, position, Math.min(file.bytes.length, position + length));
        },
        close: async () => void this.openFiles.delete(handle),
      };
      this.openFiles.add(handle);
      return handle;
    },
  };
}

const events = ['say', 'say', 'rename', 'create', 'reopen', 'rotate'] as const;
/** What happens between two calls: mostly nothing, sometimes much. */
const burst = fc.oneof(fc.constant([]), fc.array(fc.constantFrom(...events), { maxLength: 6 }));

function happen(folder: Folder, event: (typeof events)[number]): void {
  if (event === 'say') folder.say();
  if (event === 'rename' || event === 'rotate') folder.rename();
  if (event !== 'say' && event !== 'rename') folder.reopen(event !== 'create');
}

test('whatever happens between any two rounds of a follower, each line comes once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(burst, { maxLength: 60 }), async (script) => {
      const bursts = [...script];
      const folder: Folder = new Folder(() => bursts.shift()?.forEach((event) => happen(folder, event)));
      const clock = new FakeClock({ quietTurns: 1 });
      const sources = { isRunning: async () => bursts.length > 0 };
      const reader = new ContainerLogReader({ clock, log: new MemoryLog(), files: folder.files, sources });
      let text = '';
      const sink = { write: async (chunk: Uint8Array | string) => void (text += Buffer.from(chunk).toString()) };
      let ended = false;
      const stop = new AbortController();
      const done = reader
        .send({ path, id: containerId('c'), named: {}, options }, sink, stop.signal)
        .finally(() => (ended = true));
      done.catch(() => {});
      await clock.runUntil(() => ended, 300_000);
      await done;
      assert.equal(folder.openFiles.size, 0);
      // A log that was not there when it was to be opened has no followers.
      if (text === path) return;
      assert.equal(text, folder.all.slice(folder.first?.begins ?? folder.all.length));
    }),
    { numRuns: 300 },
  );
});
