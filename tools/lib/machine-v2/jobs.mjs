// The host's side of commands for the machine: a folder that both see, with a file per command. inside/jobs.mjs is the other.
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const lookMs = 25;
const defaultTimeoutMs = 60_000;
/** How much longer than the command's own limit the host waits for the machine to say that it is over. */
const patienceMs = 20_000;

/**
 * @typedef {object} JobOptions
 * @property {Readonly<Record<string, string>>} [env]
 * @property {string} [cwd]
 * @property {number} [timeoutMs] after which the command is ended
 * @property {(stream: 'out' | 'err', text: string) => void} [heard] what it says, while it says it
 * @property {AbortSignal} [signal]
 *
 * @typedef {{code: number | null, signal: string | null, stdout: string, stderr: string}} JobEnd
 */

/** The machine went down before the command came to its end. */
export class MachineDown extends Error {}

export class Jobs {
  #folder;
  #isDown;
  #count = 0;

  /**
   * @param {string} folder
   * @param {() => string | undefined} isDown why nobody will ever answer
   */
  constructor(folder, isDown) {
    this.#folder = folder;
    this.#isDown = isDown;
  }

  /**
   * Runs a command in the machine to its end. Rejects when it did not come to one of its own: it took too long, could not
   * be started, or the machine went down.
   * @param {readonly string[]} words
   * @param {JobOptions} [options]
   * @returns {Promise<JobEnd>}
   */
  async run(words, options = {}) {
    const { env = {}, cwd = '/', timeoutMs = defaultTimeoutMs, heard, signal } = options;
    const number = ++this.#count;
    const file = (kind) => join(this.#folder, `${number}.${kind}`);
    const tails = ['out', 'err'].map((name) => new Tail(file(name), (text) => heard?.(name, text)));
    writeFileSync(file('new'), JSON.stringify({ words, env, cwd, timeoutMs }));
    renameSync(file('new'), file('job'));
    const deadline = performance.now() + timeoutMs + patienceMs;
    let stopped = false;
    while (!existsSync(file('end'))) {
      const down = this.#isDown();
      if (down !== undefined) throw new MachineDown(jobText(words, down, tails));
      if (performance.now() > deadline) throw new Error(jobText(words, 'the machine does not answer', tails));
      if (signal?.aborted === true && !stopped) {
        writeFileSync(file('stop'), '');
        stopped = true;
      }
      for (const tail of tails) tail.read();
      await sleep(lookMs);
    }
    for (const tail of tails) tail.close();
    const end = JSON.parse(readFileSync(file('end'), 'utf8'));
    if (end.why === 'down') throw new MachineDown(jobText(words, 'the machine went down', tails));
    const trouble = end.error ?? (end.why === 'timeout' ? `took longer than ${timeoutMs} ms` : end.why);
    if (trouble !== undefined) throw new Error(jobText(words, trouble, tails));
    const [stdout, stderr] = tails.map(({ text }) => text);
    return { code: end.code, signal: end.signal, stdout, stderr };
  }
}

function jobText(words, trouble, tails) {
  for (const tail of tails) tail.close();
  const said = tails.map(({ text }) => text.slice(-4_000)).join('');
  return `${words.join(' ')}: ${trouble}${said === '' ? '' : `\n${said}`}`;
}

/** Reads a file that grows. */
class Tail {
  text = '';
  #path;
  #heard;
  #file;
  #decoder = new TextDecoder();
  #length = 0;

  constructor(path, heard) {
    this.#path = path;
    this.#heard = heard;
  }

  read() {
    if (this.#file === undefined && !existsSync(this.#path)) return;
    this.#file ??= openSync(this.#path, 'r');
    const bytes = Buffer.alloc(fstatSync(this.#file).size - this.#length);
    if (bytes.length === 0) return;
    this.#length += readSync(this.#file, bytes, 0, bytes.length, this.#length);
    const text = this.#decoder.decode(bytes, { stream: true });
    this.text += text;
    this.#heard(text);
  }

  close() {
    this.read();
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}
