import { linkedSignal, type LinkedSignal } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf, TubeletError } from '../../base/errors.ts';
import type { Heartbeats, Round } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import { superviseLoop, type LoopHandle } from '../../base/loop.ts';
import type { Random } from '../../base/random.ts';
import type { AccessFiles } from '../credentials/access-files.ts';
import { readPair } from './certificate-pair.ts';
import type { PairPaths } from './self-signed.ts';
import {
  ServingSlot,
  type ServingCertificate,
  type ServingCertificates,
  type ServingListener,
} from './serving-certificate.ts';

interface FileServingCertificateDeps extends PairPaths {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly files: AccessFiles;
  /** Makes sure that the files exist, before they are read for the first time. */
  readonly prepare?: (() => Promise<void>) | undefined;
  /** ReloadKubeletServerCertificateFile. */
  readonly reload: boolean;
}

const checkEveryMs = 10_000;

/** A serving certificate in two files, read again when they change. */
export class FileServingCertificate implements ServingCertificates {
  readonly name = 'serving-certificate';
  readonly #deps: FileServingCertificateDeps;
  readonly #slot: ServingSlot;
  #stamp = '';
  #life: LinkedSignal | undefined;
  #loop: LoopHandle | undefined;

  constructor(deps: FileServingCertificateDeps) {
    this.#deps = deps;
    this.#slot = new ServingSlot(deps.log);
  }

  /** Fails without a usable certificate. */
  async start(signal: AbortSignal): Promise<void> {
    const { clock, random, log, prepare, reload, certificateFile, keyFile, heartbeats } = this.#deps;
    await prepare?.();
    try {
      await this.#reload();
    } catch (error) {
      const what = `the serving certificate ${certificateFile} with key ${keyFile} cannot be used: ${messageOf(error)}`;
      throw new TubeletError('invalid', what, { cause: error });
    }
    if (!reload) return;
    this.#life = linkedSignal(signal);
    const body = async (ending: AbortSignal, round: Round): Promise<void> => {
      await round.waitFor(clock.sleep(checkEveryMs, ending));
      await this.#reloadOrKeep();
    };
    this.#loop = superviseLoop({ name: this.name, heartbeats, clock, log, random, signal: this.#life.signal, body });
  }

  async stop(): Promise<void> {
    this.#life?.abort(new TubeletError('cancelled', `the ${this.name} stops`));
    await this.#loop?.done;
  }

  current(): ServingCertificate | undefined {
    return this.#slot.current;
  }

  onChange(listener: ServingListener): () => void {
    return this.#slot.listen(listener);
  }

  async #reloadOrKeep(): Promise<void> {
    const before = this.#slot.current;
    try {
      await this.#reload();
      if (this.#slot.current !== before)
        this.#deps.log.info('Serving certificate was replaced', { path: this.#deps.certificateFile });
    } catch (error) {
      // As between two writes: the current pair stays in use.
      this.#deps.log.error(error, 'Changed serving certificate cannot be used; the one before it stays in use', {
        path: this.#deps.certificateFile,
      });
    }
  }

  async #reload(): Promise<void> {
    const { files, certificateFile, keyFile } = this.#deps;
    const paths = [certificateFile, keyFile];
    const stamp = (await Promise.all(paths.map((path) => files.stampOf(path)))).join();
    if (stamp === this.#stamp) return;
    const [certificate = '', key = ''] = await Promise.all(paths.map((path) => files.readText(path)));
    // Recorded before validation, so that a bad pair is logged once and not in each round.
    this.#stamp = stamp;
    this.#slot.put(readPair(certificate, key));
  }
}
