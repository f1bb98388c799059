// A machine with cgroup v2, systemd and D-Bus: Debian on a kernel that is an ordinary process of this host. It shares with
// the host what it is given, has no network, and ends with the process that started it.
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  closeSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { machineDisk } from './disk.mjs';
import { Jobs, MachineDown } from './jobs.mjs';
import { mortal } from './processes.mjs';
import { makeRunFolder, recordMachine } from './run-folder.mjs';

const lookMs = 50;
const bootMs = 180_000;
const downMs = 180_000;

/**
 * @typedef {object} MachineOptions
 * @property {string} root of the checkout, which the machine sees read-only at the same place
 * @property {readonly string[]} [shares] further folders that it sees likewise
 * @property {number} [memoryMiB]
 * @property {1 | 2} [cgroups] the version of cgroups that systemd mounts; 2 unless told
 * @property {'file' | 'terminal'} [console] where its first console is: a file in its folder, or this process' terminal
 */

export class Machine {
  #folder;
  #disk;
  #options;
  #jobs;
  /** The one that ends all others. */
  #process;
  /** @type {Promise<void>} */
  #ended = Promise.resolve();
  #onExit = () => this.#remove();

  /** @param {MachineOptions} options */
  constructor(folder, disk, options) {
    this.#folder = folder;
    this.#disk = disk;
    this.#options = options;
    this.#jobs = new Jobs(join(this.exchange, 'jobs'), () => this.#whyDown());
    process.on('exit', this.#onExit);
  }

  /**
   * Boots a machine; its disk is a new one.
   * @param {MachineOptions} options
   */
  static async boot(options) {
    const disk = machineDisk(options.root);
    if ('why' in disk) throw new Error(`no machine with cgroup v2 here: ${disk.why}`);
    const machine = new Machine(makeRunFolder(), disk.folder, options);
    try {
      machine.#prepare();
      await machine.start();
      return machine;
    } catch (error) {
      await machine.close();
      throw error;
    }
  }

  /** A folder that both sides may write to: /exchange in the machine. */
  get exchange() {
    return join(this.#folder, 'share/exchange');
  }

  /** Of the boot that is running. */
  get bootId() {
    return JSON.parse(readFileSync(join(this.exchange, 'up'), 'utf8')).bootId;
  }

  get running() {
    return this.#process !== undefined;
  }

  /** Resolves when the machine is off. */
  get ended() {
    return this.#ended;
  }

  /** What kernel and init said on the console. */
  get console() {
    return existsSync(this.#consoleFile) ? readFileSync(this.#consoleFile, 'utf8') : '';
  }

  /**
   * Runs a command in the machine to its end.
   * @param {readonly string[]} words
   * @param {import('./jobs.mjs').JobOptions} [options]
   */
  run(words, options) {
    return this.#jobs.run(words, options);
  }

  /**
   * Runs a script for sh that must succeed; answers what it said on standard output.
   * @param {string} script
   * @param {import('./jobs.mjs').JobOptions} [options]
   */
  async sh(script, options) {
    const { code, signal, stdout, stderr } = await this.run(['sh', '-c', script], options);
    if (code === 0) return stdout;
    throw new Error(`${script}: ended with ${signal ?? code}: ${stderr || stdout}`);
  }

  /** Switches it on, on the disk as the last boot left it, and waits until it takes commands. */
  async start() {
    if (this.running) throw new Error('the machine is running');
    rmSync(join(this.exchange, 'up'), { force: true });
    this.#launch();
    await this.#up('boot', () => true);
  }

  /** Has it go down by its own means, and waits until it is off. */
  async powerOff() {
    await this.#ask('poweroff');
    const off = await Promise.race([this.ended.then(() => true), sleep(downMs, false, { ref: false })]);
    if (!off)
      throw new Error(`the machine was not off after ${downMs} ms; its console:\n${this.console.slice(-4_000)}`);
  }

  /** Has it go down and come up again by its own means. */
  async reboot() {
    const before = this.bootId;
    await this.#ask('reboot');
    await this.#up('boot again', (bootId) => bootId !== before);
  }

  /** As if its power had failed. */
  async kill() {
    this.#process?.kill('SIGKILL');
    await this.ended;
  }

  /** Ends it, whatever it is doing, and forgets its disk. */
  async close() {
    await this.kill();
    this.#remove();
    process.off('exit', this.#onExit);
  }

  get #consoleFile() {
    return join(this.#folder, 'console.log');
  }

  /** What it will see of the host. Links at the top of what is shared lead to folders anywhere. */
  #prepare() {
    const share = join(this.#folder, 'share');
    mkdirSync(join(this.exchange, 'jobs'), { recursive: true });
    const { root, shares = [] } = this.#options;
    const inside = join(root, 'tools/lib/machine-v2/inside');
    for (const name of readdirSync(inside)) copyFileSync(join(inside, name), join(this.exchange, name));
    const node = realpathSync(process.execPath);
    writeFileSync(join(this.exchange, 'node-name'), basename(node));
    symlinkSync(dirname(node), join(share, 'node'));
    const seen = [root, ...packagesOutside(root), ...shares].map((at, index) => ({ name: `share-${index}`, at }));
    for (const { name, at } of seen) symlinkSync(at, join(share, name));
    writeFileSync(join(this.exchange, 'shares.json'), JSON.stringify(seen));
  }

  #launch() {
    const { memoryMiB = 2_048, console = 'file', cgroups = 2 } = this.#options;
    const words = mortal([
      join(this.#disk, 'linux'),
      `ubd0=root.cow,${join(this.#disk, 'root.img')}`,
      `ubd1=swap.cow,${join(this.#disk, 'swap.img')}`,
      'root=/dev/ubda',
      'rw',
      `mem=${memoryMiB}M`,
      'umid=machine',
      'uml_dir=uml/',
      'hostfs=share',
      'con=null',
      console === 'file' ? 'con0=null,fd:1' : 'con0=fd:0,fd:1',
      ...(cgroups === 1
        ? ['systemd.unified_cgroup_hierarchy=0', 'systemd.legacy_systemd_cgroup_controller=1']
        : ['systemd.unified_cgroup_hierarchy=1', 'cgroup_no_v1=all']),
      'quiet',
      'systemd.show_status=0',
    ]);
    const log = openSync(this.#consoleFile, 'a');
    const child = spawn(words[0], words.slice(1), {
      cwd: this.#folder,
      stdio: console === 'file' ? ['ignore', log, log] : ['inherit', 'inherit', log],
      env: { ...process.env, TMPDIR: memoryFolder(memoryMiB, this.#folder) },
    });
    closeSync(log);
    this.#process = child;
    this.#ended = new Promise((resolve) => {
      const gone = () => {
        this.#process = undefined;
        resolve();
      };
      child.on('exit', gone);
      child.on('error', gone);
    });
    if (child.pid !== undefined) recordMachine(this.#folder, child.pid);
  }

  /** The machine may be quicker than the command that asked for it. */
  async #ask(verb) {
    try {
      await this.run(['systemctl', verb, '--no-block']);
    } catch (error) {
      if (!(error instanceof MachineDown)) throw error;
    }
  }

  /** Waits until a boot takes commands. */
  async #up(what, isIt) {
    const deadline = performance.now() + bootMs;
    const file = join(this.exchange, 'up');
    while (!existsSync(file) || !isIt(this.bootId)) {
      const state = `; its console:\n${this.console.slice(-4_000)}`;
      if (!this.running) throw new Error(`the machine ended before it was up${state}`);
      if (performance.now() > deadline) throw new Error(`the machine did not ${what} in ${bootMs} ms${state}`);
      await sleep(lookMs);
    }
  }

  #whyDown() {
    return this.running ? undefined : 'the machine is off';
  }

  /** Also when this process ends without having closed it. */
  #remove() {
    this.#process?.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** npm packages of a checkout may live elsewhere. */
function packagesOutside(root) {
  const packages = realpathSync(join(root, 'node_modules'));
  return packages.startsWith(`${root}/`) ? [] : [packages];
}

/** Where the kernel keeps what is the machine's memory, in a file without a name. */
function memoryFolder(memoryMiB, otherwise) {
  const shared = '/dev/shm';
  if (!existsSync(shared)) return otherwise;
  const { bavail, bsize } = statfsSync(shared);
  return bavail * bsize > memoryMiB * 2 ** 20 ? shared : otherwise;
}
