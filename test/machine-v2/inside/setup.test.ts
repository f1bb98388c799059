import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { mountPrograms } from '../../../src/host/index.ts';
import { tubelet } from '../../support/real-program.ts';
import { clock, until } from '../../support/real-wait.ts';

/** Starts are slow on one simulated processor. */
const slow = { timeoutMs: 90_000 };
const base = mkdtempSync(join(tmpdir(), 'setup-'));
const run = (program: string, ...words: readonly string[]): string =>
  execFileSync(program, words, { encoding: 'utf8' });
const readTunable = (name: string): string => readFileSync(`/proc/sys/${name}`, 'utf8').trim();

const wanted = {
  'vm/overcommit_memory': '1',
  'vm/panic_on_oom': '0',
  'kernel/panic': '10',
  'kernel/panic_on_oops': '1',
  'kernel/keys/root_maxkeys': '1000000',
  'kernel/keys/root_maxbytes': '25000000',
} as const;
/** Otherwise than a kubelet wants them. */
function spoilTunables(): void {
  for (const name of ['vm/overcommit_memory', 'kernel/panic_on_oops']) writeFileSync(`/proc/sys/${name}`, '0');
}
const tunables = (): object => Object.fromEntries(Object.keys(wanted).map((name) => [name, readTunable(name)]));

let count = 0;

/** An agent as a service of this machine, on a runtime with which it needs to start no pods. */
class Agent {
  readonly unit = `setup-test-${++count}`;
  readonly root: string;
  readonly #log = join(base, `${this.unit}.log`);

  constructor(
    flags: readonly string[],
    { root = join(base, `root-${count}`), properties = [] as readonly string[], config = {} } = {},
  ) {
    this.root = root;
    const manifests = join(base, 'manifests');
    mkdirSync(manifests, { recursive: true });
    const file = join(base, `${this.unit}.json`);
    const configuration = {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      staticPodPath: manifests,
      containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
      podLogsDir: join(base, 'pod-logs'),
      enableServer: false,
      authentication: { anonymous: { enabled: false }, webhook: { enabled: false } },
      authorization: { mode: 'AlwaysAllow' },
      healthzPort: 0,
      readOnlyPort: 0,
      cgroupDriver: 'cgroupfs',
      cgroupsPerQOS: false,
      enforceNodeAllocatable: [],
      makeIPTablesUtilChains: false,
      ...config,
    };
    writeFileSync(file, JSON.stringify(configuration));
    const words = [tubelet, `--config=${file}`, `--root-dir=${root}`, '--hostname-override=node-1', '--v=2', ...flags];
    // The journal loses the unit of a process that moves to another cgroup.
    const outputs = [`StandardOutput=append:${this.#log}`, `StandardError=append:${this.#log}`];
    const all = [...outputs, ...properties].map((each) => `--property=${each}`);
    run('systemd-run', '--quiet', `--unit=${this.unit}`, ...all, ...words);
    agents.push(this);
  }

  get text(): string {
    return existsSync(this.#log) ? readFileSync(this.#log, 'utf8') : '';
  }

  get pid(): number {
    return Number(run('systemctl', 'show', this.unit, '--property=MainPID', '--value').trim());
  }

  said(pattern: RegExp): Promise<RegExpExecArray> {
    const look = (): RegExpExecArray | undefined => pattern.exec(this.text) ?? undefined;
    return until(`${pattern} is said`, look, { ...slow, state: () => this.text.slice(-3_000) });
  }

  /** Returns when the last of its components has started. */
  async works(): Promise<this> {
    await this.said(/Component started.*file-source/);
    return this;
  }

  stop(): void {
    spawnSync('systemctl', ['stop', this.unit]);
    spawnSync('systemctl', ['reset-failed', this.unit]);
  }
}

const agents: Agent[] = [];

describe('the agent on a real machine', () => {
  before(() => run('systemctl', 'start', 'containerd'));
  afterEach(() => {
    for (const agent of agents.splice(0)) agent.stop();
  });
  after(() => run('systemctl', 'stop', 'containerd'));

  test('sets the kernel, its score, its limit and its folders', async () => {
    spoilTunables();
    const agent = await new Agent([], { config: { maxOpenFiles: 123_456 } }).works();
    assert.deepEqual(tunables(), wanted);
    assert.equal(readFileSync(`/proc/${agent.pid}/oom_score_adj`, 'utf8'), '-999\n');
    assert.match(readFileSync(`/proc/${agent.pid}/limits`, 'utf8'), /^Max open files\s+123456\s+123456\s/m);
    const modes = ['', '/pods', '/plugins', '/plugins_registry', '/pod-resources', '/checkpoints'].map((path) =>
      (statSync(agent.root + path).mode & 0o7777).toString(8),
    );
    assert.deepEqual(modes, ['750', '750', '750', '750', '750', '700']);
    assert.ok(!readFileSync('/proc/self/mountinfo', 'utf8').includes(agent.root), 'systemd has shared the machine');
  });

  test('refuses to start where the kernel is protected and not as it should be', async () => {
    spoilTunables();
    const agent = new Agent(['--protect-kernel-defaults']);
    await agent.said(
      /\[invalid kernel flag: vm\/overcommit_memory, expected value: 1, actual value: 0, invalid kernel flag: kernel\/panic_on_oops, expected value: 1, actual value: 0\]/,
    );
    assert.equal(readTunable('vm/overcommit_memory'), '0');
  });

  test('names what a service may not do, and works', async () => {
    spoilTunables();
    const agent = new Agent([], {
      properties: ['CapabilityBoundingSet=~CAP_SYS_RESOURCE', 'ProtectKernelTunables=yes', 'LimitNOFILE=4096'],
    });
    await agent.works();
    const { text } = agent;
    for (const line of [
      /Failed to ApplyOOMScoreAdj.*lost=/,
      /Failed to set rlimit on max file handles.*lost=/,
      /Kernel flags cannot be changed for lack of privilege.*vm\/overcommit_memory is 0 instead of 1.*lost=/,
    ]) {
      assert.equal(text.match(new RegExp(line, 'g'))?.length, 1, `${line}: ${text}`);
    }
    assert.equal(readTunable('vm/overcommit_memory'), '0');
  });

  test('keeps its score when an operator changes it', async () => {
    const agent = await new Agent([], { config: { kubeletCgroups: '/setup-agent' } }).works();
    writeFileSync(`/proc/${agent.pid}/oom_score_adj`, '10');
    const isBack = (): boolean => readFileSync(`/proc/${agent.pid}/oom_score_adj`, 'utf8') === '-999\n';
    await until('the score is back', isBack, { timeoutMs: 90_000 });
    assert.match(readFileSync(`/proc/${agent.pid}/cgroup`, 'utf8'), /^0::\/setup-agent$/m);
  });

  test('shares a root directory on a private file system, once', async () => {
    const disk = join(base, 'private');
    mkdirSync(disk);
    run('mount', '-t', 'tmpfs', '--make-private', 'tmpfs', disk);
    const root = join(disk, 'kubelet');
    const mounts = (): readonly string[] =>
      readFileSync('/proc/self/mountinfo', 'utf8')
        .split('\n')
        .filter((line) => line.split(' ')[4] === root);
    for (const start of ['first', 'second']) {
      const agent = await new Agent([], { root }).works();
      assert.equal(mounts().length, 1, start);
      assert.match(mounts()[0] ?? '', / shared:\d+ /);
      agent.stop();
    }
    run('umount', root);
    run('umount', disk);
  });

  test('moves what runs in the root of the cgroups', async () => {
    const sleeper = spawn('sleep', ['1000']);
    writeFileSync('/sys/fs/cgroup/cgroup.procs', String(sleeper.pid));
    const placeOf = (pid: number | undefined): string => readFileSync(`/proc/${pid}/cgroup`, 'utf8').trim();
    assert.equal(placeOf(sleeper.pid), '0::/');
    try {
      await new Agent([], { config: { systemCgroups: '/moved', cgroupRoot: '/' } }).works();
      assert.equal(placeOf(sleeper.pid), '0::/moved');
      assert.equal(placeOf(1), '0::/init.scope');
      assert.equal(placeOf(2), '0::/', 'a thread of the kernel');
    } finally {
      sleeper.kill('SIGKILL');
    }
  });

  test('refuses the root as the cgroup of the system', async () => {
    const agent = new Agent([], { config: { systemCgroups: '/', cgroupRoot: '/' } });
    await agent.said(/system container cannot be root \("\/"\)/);
  });

  test('refuses swap, or warns of what may be written to it', async () => {
    run('mkswap', '/dev/ubdb');
    run('swapon', '/dev/ubdb');
    try {
      const refusing = new Agent([]);
      await refusing.said(
        /running with swap on is not supported, please disable swap or set --fail-swap-on flag to false/,
      );
      const warning = await new Agent(['--fail-swap-on=false']).works();
      // Its kernel is older than the option.
      await warning.said(/PossibleMemoryBackedVolumesOnDisk.*The tmpfs noswap option is not supported\./);
    } finally {
      run('swapoff', '/dev/ubdb');
    }
  });

  test('makes its chains of iptables, by the tools that its kernel has tables for', async () => {
    for (const name of ['iptables', 'ip6tables']) run('update-alternatives', '--set', name, `/usr/sbin/${name}-legacy`);
    const recorded = JSON.parse(readFileSync('test/golden/iptables/kubelet.json', 'utf8')) as {
      readonly tables: Readonly<Record<'IPv4' | 'IPv6', readonly string[]>>;
    };
    const agent = new Agent(['--make-iptables-util-chains=true']);
    const ours = (lines: readonly string[]): readonly string[] => lines.filter((line) => /KUBE/.test(line)).toSorted();
    const saved = (save: string): readonly string[] =>
      run(save)
        .split('\n')
        .map((line) => line.replace(/\[\d+:\d+\]/, '[0:0]'));
    for (const [family, save] of [
      ['IPv4', 'iptables-save'],
      ['IPv6', 'ip6tables-save'],
    ] as const) {
      const wantedLines = ours(recorded.tables[family]);
      // The agent starts pods after ten seconds, whether or not all chains stand.
      const stand = (): boolean => isDeepStrictEqual(ours(saved(save)), wantedLines);
      await until(`the chains of ${family} are those of a Go kubelet`, stand, {
        ...slow,
        state: () => [ours(saved(save)), agent.text.slice(-3_000)],
      });
    }
  });

  test('leaves daemons of file systems running when its service ends', async () => {
    const mount = join(base, 'mount');
    writeFileSync(mount, `#!/bin/sh\nsetsid sleep 4321 </dev/null >/dev/null 2>&1 &\n`);
    chmodSync(mount, 0o755);
    const programs = mountPrograms({ environment: process.env, clock, mount });
    const spec = { fsType: 'ext4', source: 'x', target: '/somewhere', options: [] };
    await programs.mount(spec, new AbortController().signal);
    const pid = run('pgrep', '--full', 'sleep 4321').trim();
    try {
      const place = readFileSync(`/proc/${pid}/cgroup`, 'utf8').trim();
      assert.match(place, /^0::\/system\.slice\/run-.+\.scope$/);
      const scope = place.split('/').at(-1) ?? '';
      assert.equal(
        run('systemctl', 'show', scope, '--property=Description', '--value').trim(),
        'Kubernetes transient mount for /somewhere',
      );
    } finally {
      process.kill(Number(pid), 'SIGKILL');
    }
  });
});
