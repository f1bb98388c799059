import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { canonicalRoot, instanceNames, type InstanceNames } from '../../src/up/index.ts';
import { classifyProcess } from '../../src/up/plan-removal.ts';
import { signalProcess } from '../../src/up/process-table.ts';
import { starterImages } from '../../src/up/starter-images.ts';
import { realFolder, type RealFolder } from '../support/real-folders.ts';
import { footprint, machineListing, nothing, processesOf, type Listing } from '../support/real-footprint.ts';
import { idlePod } from '../support/real-pods.ts';
import { Program, run, tubelet, type Ran } from '../support/real-program.ts';
import { nodeName, RuntimeView } from '../support/real-runtime.ts';
import { clock, until } from '../support/real-wait.ts';

/** Of the sample pod, and what a busy machine may take on top to remove a pod that used it up. */
const graceMs = 3_000;
const removalMs = 10_000;
/** Less than the grace that pods get when everything is stopped. */
const atOnceMs = 3_000;

let folder: RealFolder;
let names: InstanceNames;
let untouched: Listing;
/** A folder of the user's own, with a pod that ends quickly. */
let own: string;
const programs: Program[] = [];

before(async () => {
  folder = await realFolder('up');
  names = instanceNames(canonicalRoot(folder.root));
  untouched = await machineListing(names);
  own = join(folder.path, 'own');
  mkdirSync(own);
  writeFileSync(join(own, 'quick.json'), JSON.stringify(idlePod('quick', starterImages.busybox)));
});
after(async () => {
  for (const program of programs) await program.end();
  await folder?.remove();
});

const flags = (): readonly string[] => ['--root', names.root, '--name', nodeName];
const upWords = (...more: readonly string[]): readonly string[] => [tubelet, 'up', ...flags(), ...more];

/** Starts a program that runs until it is told to end; without a terminal, as all of them here. */
function start(words: readonly string[]): Program {
  const program = new Program(words);
  programs.push(program);
  return program;
}

const down = (): Promise<Ran> => run([tubelet, 'down', '--root', names.root]);

/** The machine looks as it did before the first `up`. What others do on it meanwhile may take a moment to be over. */
async function assertUntouched(): Promise<void> {
  assert.deepEqual(await footprint(names), nothing);
  let now: Listing = {};
  await until('the machine is as before', async () => {
    now = await machineListing(names);
    return isDeepStrictEqual(now, untouched);
  }).catch(() => assert.deepEqual(now, untouched));
}

describe('tubelet up', () => {
  let node: Program;
  let runtime: RuntimeView;
  let url: string;
  before(async () => {
    node = start(upWords());
    await node.said(/^ready$/m);
    runtime = new RuntimeView(`unix://${names.socket}`);
  });
  after(() => runtime?.close());

  const statusLine = (status: string): RegExp => new RegExp(`^pod default/${status}$`, 'm');

  test('prints the address of the sample pod, which answers there', async () => {
    url = (await node.said(/^url: (http:\S+)$/m))[1] ?? '';
    const page = await fetch(url);
    assert.equal(page.status, 200);
    assert.match(await page.text(), /Hello from tubelet/);
    // The web server and its sidecar count, the init container does not.
    await node.said(statusLine(`hello-${nodeName}: Running, ready 2/2, restarts 0, ip [0-9.]+`));
  });

  test('refuses a root in which it already runs', async () => {
    const second = await run(upWords());
    assert.equal(second.code, 1);
    assert.match(second.text, /tubelet is already running in .*; stop it with: tubelet down --root /);
    assert.equal((await fetch(url)).status, 200);
  });

  test('shows that a web server which was killed is running again', async () => {
    const web = (await runtime.running('hello')).get('web') ?? 'none';
    const inside = processesOf(names).filter(({ cgroups }) => cgroups.some((path) => path.endsWith(`/${web}`)));
    assert.deepEqual(
      inside.map(({ argv }) => argv[0]),
      ['httpd'],
    );
    for (const process of inside) signalProcess(process, 'SIGKILL');
    await node.said(statusLine(`hello-${nodeName}: Running, ready 2/2, restarts 1, ip [0-9.]+`));
    await until('the page is there again', async () => (await fetch(url)).status === 200);
  });

  test('runs a manifest that is renamed into the folder', async () => {
    const hidden = join(names.manifests, '.second.json');
    writeFileSync(hidden, JSON.stringify(idlePod('second', starterImages.busybox)));
    renameSync(hidden, join(names.manifests, 'second.json'));
    await node.said(statusLine(`second-${nodeName}: Running, ready 1/1, restarts 0, ip [0-9.]+`));
  });

  test('reports a broken manifest with file and line, and the others run on', async () => {
    const before = [await runtime.running('hello'), await runtime.running('second')];
    const broken = join(names.manifests, 'broken.yaml');
    writeFileSync(broken, 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: broken\nspec:\n  containers: none\n');
    const log = (): string => readFileSync(names.agentLog, 'utf8');
    await until('the fault is in the log', () => log().includes(`${broken}:6: `), { state: () => log().slice(-2_000) });
    assert.deepEqual([await runtime.running('hello'), await runtime.running('second')], before);
    rmSync(broken);
  });

  test('removes the pod of a manifest that is removed, within its grace period', async () => {
    const began = clock.monotonic();
    rmSync(join(names.manifests, 'hello.yaml'));
    await runtime.gone('hello');
    const ms = clock.monotonic() - began;
    assert.ok(ms < graceMs + removalMs, `${ms} ms`);
    await node.said(statusLine(`hello-${nodeName}: gone`));
    assert.equal((await runtime.running('second')).size, 1);
  });

  test('leaves nothing behind after tubelet down but the manifests of the user', async () => {
    // Each kind is there now, so that finding none later means something.
    for (const [kind, found] of Object.entries(await footprint(names))) assert.notDeepEqual(found, [], kind);
    const full = await machineListing(names);
    for (const kind of ['processes', 'mounts', 'interfaces', 'rules', 'cgroups', 'files']) {
      assert.notDeepEqual(full[kind], untouched[kind], kind);
    }
    const { code, text } = await down();
    assert.equal(code, 0, text);
    assert.match(text, /stopping tubelet \(process \d+\): done/);
    assert.equal((await node.ended).code, 0, node.text);
    assert.match(text, /your manifests stay in /);
    assert.deepEqual([readdirSync(names.root), readdirSync(names.manifests)], [['manifests'], ['second.json']]);
    rmSync(names.root, { recursive: true });
    await assertUntouched();
    assert.match((await down()).text, /nothing of tubelet is in /);
  });
});

describe('tubelet up ends', () => {
  test('with Ctrl-C in an orderly way, with a second one at once, and then the next start clears up', async () => {
    const hasty = start(upWords());
    await hasty.said(/^ready$/m);
    hasty.kill('SIGINT');
    // The agent goes first; then the web server of the sample uses up its grace.
    await until(
      'the agent has ended',
      () => !processesOf(names).some((one) => classifyProcess(names, one) === 'agent'),
    );
    const began = clock.monotonic();
    // Two in the same instant would count as one, so it is asked until it hears.
    await until('it has left', () => {
      hasty.kill('SIGINT');
      return !hasty.running;
    });
    assert.equal((await hasty.ended).code, 1);
    assert.ok(clock.monotonic() - began < atOnceMs);
    assert.notDeepEqual(await footprint(names), nothing);

    // As `npm start` does it.
    const orderly = start([process.execPath, 'tools/start.mjs', ...flags(), '--manifests', own]);
    await orderly.said(/^ready$/m);
    assert.match(orderly.text, /removing what an earlier run that was cut off left behind: done/);
    orderly.kill('SIGINT');
    assert.equal((await orderly.ended).code, 0, orderly.text);
    assert.deepEqual(readdirSync(own), ['quick.json']);
    await assertUntouched();
  });

  test('with tubelet down when it was started in the background', async () => {
    const started = await run(upWords('--detach', '--manifests', own));
    assert.equal(started.code, 0, started.text);
    assert.match(started.text, /^ready$/m);
    assert.match(started.text, /running in the background; .*stop it with: tubelet down --root /);
    const runtime = new RuntimeView(`unix://${names.socket}`);
    assert.equal((await runtime.running('quick')).size, 1);
    runtime.close();
    assert.equal((await down()).code, 0);
    await assertUntouched();
  });

  test('with tubelet down after all of it was killed, which leaves containers without parents', async () => {
    const node = start(upWords('--manifests', own));
    await node.said(/^ready$/m);
    node.kill('SIGKILL');
    await node.ended;
    const parts = new Map(processesOf(names).map((process) => [process, classifyProcess(names, process)]));
    for (const role of ['agent', 'containerd', 'shim']) {
      const doomed = [...parts].filter(([, found]) => found === role);
      assert.notDeepEqual(doomed, [], role);
      for (const [process] of doomed) signalProcess(process, 'SIGKILL');
    }
    assert.notDeepEqual(processesOf(names), []);
    const { code, text } = await down();
    assert.equal(code, 0, text);
    await assertUntouched();
  });
});

test('tubelet up as someone else than root says so and makes nothing', async (context) => {
  const someone = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
  const probe = spawnSync(someone[0] ?? '', [...someone.slice(1), 'node', '--version']);
  if (probe.status !== 0) return context.skip('needs setpriv, and a node that every user may run');
  // The checkout may be closed to others, so the program is put where everybody can read and write.
  const open = join(folder.path, 'open');
  for (const part of ['bin', 'dist']) cpSync(part, join(open, part), { recursive: true });
  chmodSync(folder.path, 0o755);
  chmodSync(open, 0o777);
  const root = join(open, 'root');
  for (const command of ['up', 'down']) {
    const { code, text } = await run([...someone, join(open, 'bin/tubelet'), command, '--root', root]);
    assert.equal(code, 1, text);
    assert.match(text, /not root/);
    assert.match(text, /what to do: run it again as root/);
  }
  assert.deepEqual(readdirSync(open).toSorted(), ['bin', 'dist']);
  assert.deepEqual(await footprint(instanceNames(canonicalRoot(root))), nothing);
  await assertUntouched();
});
