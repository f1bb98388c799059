import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { clock } from '../../support/real-wait.ts';

/** Why there can be no such file system here, or nothing. */
export const noFuse = existsSync('/dev/fuse') ? undefined : 'needs /dev/fuse';

/** A FUSE file system that takes all requests and answers none before it is asked to. */
export class HungFuse {
  readonly path: string;
  readonly #server: ChildProcess;

  private constructor(path: string, server: ChildProcess) {
    this.path = path;
    this.#server = server;
  }

  static async mount(path: string): Promise<HungFuse> {
    mkdirSync(path, { recursive: true });
    const server = spawn(process.execPath, ['test/limits/support/hung-fuse.mjs', path], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = once(server, 'close').then(() => Promise.reject(new Error(`no FUSE on ${path}`)));
    const { stdout } = server;
    if (stdout === null) throw new Error('no output');
    await Promise.race([once(stdout, 'data'), ended]);
    ended.catch(() => undefined);
    return new HungFuse(path, server);
  }

  /** From now on every request is answered, those before included. */
  answer(): void {
    this.#server.stdin?.write('answer\n');
  }

  /** From now on none is. */
  hang(): void {
    this.#server.stdin?.write('hang\n');
  }

  /** Ends the connection: whatever waits for it fails now. Harmless when repeated. */
  async abort(): Promise<void> {
    if (this.#server.exitCode !== null || this.#server.signalCode !== null) return;
    const closed = once(this.#server, 'close');
    this.#server.stdin?.end();
    await Promise.race([closed, clock.sleep(5_000)]);
    this.#server.kill('SIGKILL');
  }
}
