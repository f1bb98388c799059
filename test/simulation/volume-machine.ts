import type { DesiredPod } from '../../src/model/desired-pod.ts';
import { FakeClock } from '../../src/testing/fake-clock.ts';
import { SimDisk } from './disk/sim-disk.ts';
import { Life } from './life.ts';
import { SimDriver } from './sim-driver.ts';
import { Storage } from './storage.ts';
import { VolumeAgent } from './volume-agent.ts';
import { VolumeRules, type UsingContainer } from './volume-rules.ts';

const leftOver = ['/var/lib/kubelet/pods', '/var/lib/kubelet/plugins'];

/** A machine with storage of all kinds, where containers use volumes and agents come and go. Only volumes are real. */
export class VolumeMachine {
  readonly clock = new FakeClock();
  readonly disk = new SimDisk();
  readonly storage: Storage;
  readonly driver: SimDriver;
  readonly rules: VolumeRules;
  readonly broken: string[] = [];
  /** Every step that files, mounts and the driver took. */
  readonly steps: string[] = [];
  readonly running = new Map<string, { readonly container: UsingContainer; readonly pod: DesiredPod }>();
  /** Pods that shall go on, whether or not anything of them runs now. */
  readonly wanted = new Set<string>();
  #life: Life | undefined;
  #onDeath: () => void = () => {};
  #lives = 0;

  constructor(pods: readonly string[]) {
    this.storage = new Storage(this.disk, pods);
    this.driver = new SimDriver(this.clock, this.disk, this.storage);
    const complain = (rule: string): void => void this.broken.push(rule);
    this.driver.complain = complain;
    const { disk, storage } = this;
    const world = {
      disk,
      storage,
      running: () => [...this.running.values()].map(({ container }) => container),
      isNeeded: ({ uid }: { uid: string }) =>
        this.wanted.has(uid) || [...this.running.values()].some(({ pod }) => pod.uid === uid),
    };
    const rules = new VolumeRules(world, complain);
    this.rules = rules;
    disk.watch = {
      before: (step, path) => this.#stepping('before', step, path),
      after: (step, path) => this.#stepping('after', step, path),
      removed: (inode, path) => rules.removed(inode, path),
      mounted: (mount) => rules.mounted(mount),
      unmounted: (mount) => rules.unmounted(mount),
      crossing: (path, mount) => rules.crossing(path, mount),
    };
  }

  /** A new agent, which dies at the nth step from now where one is named. `died` resolves then. */
  async begin(fuse?: { readonly step: number; readonly at: 'before' | 'after' }) {
    const died = new Promise<'died'>((resolve) => (this.#onDeath = () => resolve('died')));
    const watch = { leaving: () => {}, back: () => {}, died: () => this.#onDeath() };
    const life = new Life({ clock: this.clock, watch, diskDelayMs: () => 0, isDeaf: () => false });
    this.#life = life;
    if (fuse !== undefined) life.lightFuse(fuse.step, fuse.at, 'steps');
    const agent = new VolumeAgent(++this.#lives, life, this.disk, this.storage, this.driver);
    await Promise.race([agent.start(), died]);
    return { agent, died };
  }

  start(pod: DesiredPod, container: UsingContainer): void {
    this.rules.starting(pod, 1, container);
    this.running.set(container.id, { container, pod });
  }

  reboot(): void {
    this.running.clear();
    this.disk.table.clear();
    this.driver.reboot();
    this.rules.rebooted();
  }

  /** What is left of pods although there are none. */
  leftOvers(): readonly string[] {
    const mounts = this.disk.table.all().map(({ path }) => path);
    const files = leftOver.flatMap((path) => {
      const folder = this.disk.table.walk(path)?.inode;
      return [...(folder?.below() ?? [])].map(
        (entry) => `${path}/${folder === undefined ? '' : entry.pathFrom(folder)}`,
      );
    });
    const known = /plugins\/kubernetes.io(\/(csi(\/[^/]+)?|local-volume(\/mounts)?))?$/;
    return [
      ...mounts.filter((path) => path !== '/').map((path) => `${path} is mounted`),
      ...files.filter((path) => !known.test(path)),
      ...this.driver.fake.volumes.inUse().map((id) => `${id} is in use at the driver`),
    ];
  }

  #stepping(at: 'before' | 'after', step: string, path: string): void {
    if (at === 'after') this.steps.push(`${step} ${path}`);
    this.#life?.stepping(at);
  }
}
