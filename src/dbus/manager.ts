import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import { systemdSocket } from './addresses.ts';
import { dialBus, dialProgram, type DialOptions } from './dial.ts';
import { JobResults } from './job-results.ts';
import type { Peer } from './peer.ts';
import { textOf, type DBusValue } from './values.ts';

const name = 'org.freedesktop.systemd1';
const path = '/org/freedesktop/systemd1';
const managerInterface = `${name}.Manager`;
/** Like systemctl, for a job that hangs must not hold up what waits for it. */
const jobTimeoutMs = 30_000;

/** systemd's manager at the other end of one connection. */
export class Manager {
  readonly #peer: Peer;
  readonly #jobs: JobResults;

  private constructor(peer: Peer, clock: Pick<Clock, 'after'>) {
    this.#peer = peer;
    this.#jobs = new JobResults(clock);
  }

  /** Over the bus; root may reach systemd directly where there is no bus, or systemd is not on it. */
  static async dial(options: DialOptions): Promise<Manager> {
    let peer: Peer;
    try {
      peer = await dialBus(name, options);
      if (!peer.present) {
        peer.close();
        throw new TubeletError('unavailable', 'systemd is not on the bus');
      }
    } catch (error) {
      if (options.uid !== 0) throw error;
      peer = await directly(options, error);
    }
    const manager = new Manager(peer, options.clock);
    await manager.#hearOfJobs();
    return manager;
  }

  get closed(): Promise<Error> {
    return this.#peer.closed;
  }

  close(): void {
    this.#peer.close();
  }

  async call(member: string, signature: string, body: readonly DBusValue[]): Promise<readonly DBusValue[]> {
    // systemd is never started by a bus: it runs, or is about to come back.
    const answer = await this.#peer.call(path, `${managerInterface}.${member}`, signature, body, { noAutoStart: true });
    for (const descriptor of answer.descriptors) descriptor.close();
    return answer.body;
  }

  /** Makes a call that begins a job, and waits until it has ended; answers with its result. */
  runJob(member: string, signature: string, body: readonly DBusValue[], onBegun?: () => void): Promise<string> {
    const begin = async (): Promise<string> => {
      const [job] = await this.call(member, signature, body);
      onBegun?.();
      return textOf(job);
    };
    return this.#jobs.of(begin, jobTimeoutMs);
  }

  /** As systemd reports it: `v252.39-1~deb12u1`. */
  async version(): Promise<string> {
    return textOf(await this.#peer.property(path, managerInterface, 'Version'));
  }

  async #hearOfJobs(): Promise<void> {
    void this.#peer.closed.then((error) => this.#jobs.lose(error));
    const signal = { path, interface: managerInterface, member: 'JobRemoved' };
    await this.#peer.onSignal(signal, (message) => this.#jobs.note(message));
  }
}

async function directly(options: DialOptions, busFailure: unknown): Promise<Peer> {
  try {
    return await dialProgram(systemdSocket, options);
  } catch {
    // What is wrong with the bus is of more use: on most machines it is what has to be mended.
    throw busFailure;
  }
}
