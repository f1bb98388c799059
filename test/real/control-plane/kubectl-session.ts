import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../support/real-program.ts';
import { until } from '../../support/real-wait.ts';
import type { ControlPlane } from './control-plane.ts';

/** How a kubectl ended. */
export interface SessionEnd {
  /** Minus one when it was killed. */
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** A kubectl of the administrator that is talked with while it runs. */
export class KubectlSession {
  readonly ended: Promise<SessionEnd>;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #stdout: Buffer[] = [];
  #stderr = '';

  constructor(plane: ControlPlane, program: string, words: readonly string[]) {
    const env = { ...process.env, KUBECONFIG: plane.adminKubeconfig, KUBECACHEDIR: join(plane.path, 'kubectl-cache') };
    this.#child = spawn(program, words, { env });
    this.#child.stdout.on('data', (chunk: Buffer) => this.#stdout.push(chunk));
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    // It may end before it has read its input; its exit code tells what went wrong.
    this.#child.stdin.on('error', () => undefined);
    this.ended = once(this.#child, 'close').then(([code]) => ({
      code: (code as number | null) ?? -1,
      stdout: Buffer.concat(this.#stdout),
      stderr: this.#stderr,
    }));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get text(): string {
    return Buffer.concat(this.#stdout).toString();
  }

  get stderr(): string {
    return this.#stderr;
  }

  write(data: string | Buffer): void {
    this.#child.stdin.write(data);
  }

  /** Nothing more will be written. */
  end(data: string | Buffer = ''): void {
    this.#child.stdin.end(data);
  }

  /** Waits for words on the standard output, behind as many characters as told. */
  async said(pattern: RegExp, since = 0): Promise<RegExpExecArray> {
    const look = (): RegExpExecArray | undefined => pattern.exec(this.text.slice(since)) ?? undefined;
    const state = (): unknown => ({ text: this.text.slice(since).slice(-1_000), stderr: this.#stderr });
    return until(`${pattern} is said`, look, { timeoutMs: 60_000, state });
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }
}

/** kubectl at a terminal, whose size can change. */
export class KubectlTerminal extends KubectlSession {
  constructor(plane: ControlPlane, size: string, words: readonly string[]) {
    const command = [plane.kubectlPath, ...words].map((word) => `'${word}'`).join(' ');
    // It gives its child a terminal, and the child's exit code back.
    super(plane, '/usr/bin/script', ['-qefc', `stty ${size}; exec ${command}`, '/dev/null']);
  }

  /** As a window does that somebody drags: whoever runs there is told by a signal. */
  async resize(size: string): Promise<void> {
    const [child = ''] = readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, 'utf8').split(' ');
    const terminal = readlinkSync(`/proc/${child}/fd/0`);
    const { code, text } = await run(['/usr/bin/stty', '-F', terminal, ...size.split(' ')]);
    if (code !== 0) throw new Error(`stty: ${text}`);
  }
}
