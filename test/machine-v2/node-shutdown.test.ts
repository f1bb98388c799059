import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Machine } from '../../tools/lib/machine-v2/machine.mjs';
import { clock, until } from '../support/real-wait.ts';
import { ServiceNode } from './service-node.ts';

/** The machine is slow: a pod that ends at once may take ten seconds. */
const config = `shutdownGracePeriodByPodPriority:
- { priority: 0, shutdownGracePeriodSeconds: 40 }
- { priority: 1000, shutdownGracePeriodSeconds: 15 }
- { priority: 2000000000, shutdownGracePeriodSeconds: 45 }
`;
/** The state that the agent leaves behind is kept for the test; a process that stands still is not waited for long. */
const dropIn = `[Unit]
After=jobs.service
[Service]
Environment=PATH=/opt:/usr/sbin:/usr/bin:/sbin:/bin
ExecStart=
ExecStart=/usr/bin/kubelet --config=/var/lib/kubelet/config.yaml --hostname-override=node --v=2
ExecStopPost=/bin/cp /var/lib/kubelet/pod_statuses_state /var/lib/kubelet/statuses-at-stop
WatchdogSec=6s
TimeoutAbortSec=3s
RestartSec=1
`;
const names = ['low', 'middle', 'high'] as const;
const message = 'Pod was terminated in response to imminent node shutdown.';

let machine: Machine;
let node: ServiceNode;

before(async () => {
  machine = await Machine.boot({ root: process.cwd() });
  node = await ServiceNode.install(machine, { config, dropIn });
  // One that takes its time, one that ends only by force, one that ends at once.
  await node.addPod('low', { priority: 5, grace: 60, onTerm: 'sleep 2; exit 0' });
  await node.addPod('middle', { priority: 1_000, grace: 60, onTerm: ':' });
  await node.addPod('high', { priority: 2_000_001_000, grace: 60, onTerm: 'exit 0' });
  await node.allReady(...names);
});
after(() => machine?.close());

async function lockHeld(): Promise<void> {
  await until('the lock is held', async () => /kubelet/.test(await machine.sh('systemd-inhibit --list --no-legend')));
}

/** How pods ended, as the agent noted it before it was stopped, and when, as the pods noted it. */
async function checkEnds(): Promise<void> {
  const noted = JSON.parse(await machine.sh('cat /var/lib/kubelet/statuses-at-stop')) as {
    readonly content: Readonly<Record<string, Status>>;
  };
  const statuses = Object.values(noted.content);
  assert.equal(statuses.length, names.length);
  for (const status of statuses) {
    assert.deepEqual([status.phase, status.reason, status.message], ['Failed', 'Terminated', message]);
    const disruption = status.conditions?.find(({ type }) => type === 'DisruptionTarget');
    assert.deepEqual([disruption?.status, disruption?.reason], ['True', 'TerminationByKubelet']);
  }
  const asked = new Map<string, number>();
  for (const name of names) asked.set(name, await node.moment(name, 'asked'));
  const [low = 0, middle = 0, high = 0] = names.map((name) => asked.get(name));
  const lived = (await node.moment('middle', 'alive')) - middle;
  const seen = `low asked at ${low}, middle ${middle - low} s later, lived for ${lived} s, high ${high - middle} s later`;
  assert.ok(middle - low >= 1.9 && middle - low < 41, seen);
  assert.ok(lived >= 14 && lived < 30, seen);
  assert.ok(high - middle >= 14.5 && high - middle < 30, seen);
}

interface Status {
  readonly phase: string;
  readonly reason: string;
  readonly message: string;
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
}

test('systemd finds nothing wrong with the units', async () => {
  const { code, stdout, stderr } = await machine.run([
    'sh',
    '-c',
    `cp -r ${process.cwd()}/packaging/systemd /tmp/units && systemd-analyze verify --man=no /tmp/units/kubelet.service`,
  ]);
  assert.deepEqual([code, `${stdout}${stderr}`], [0, '']);
  const version = await machine.sh('PATH=/opt:$PATH kubelet --version');
  assert.match(version, /^Kubernetes v1\.34\.\d+[-\w.+]*\n$/);
});

test('the delay of logind is raised and the lock held', async () => {
  await lockHeld();
  const text = await machine.sh('cat /etc/systemd/logind.conf.d/99-kubelet.conf');
  assert.equal(text, '# Kubelet logind override\n[Login]\nInhibitDelayMaxSec=100\n');
  const ask =
    'busctl get-property org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager InhibitDelayMaxUSec';
  assert.equal(await machine.sh(ask), 't 100000000\n');
  assert.match(
    await machine.sh('systemd-inhibit --list --no-legend'),
    /kubelet\s.*shutdown\s+Kubelet needs time to handle node shutdown\s+delay/,
  );
});

test('a shutdown that is planned and called off changes nothing', async () => {
  const before = await node.allReady(...names);
  await machine.sh('shutdown +1; sleep 1; shutdown -c');
  await clock.sleep(2_000);
  assert.deepEqual(await node.pods(), before);
  assert.doesNotMatch(await node.log(), /detected shutdown event/);
});

test('a process that stands still is restarted by the watchdog, and no pod notices', async () => {
  const before = await node.allReady(...names);
  assert.equal(await node.property('NRestarts'), '0');
  const pid = await node.property('MainPID');
  await machine.sh(`kill -STOP ${pid}`);
  await until('it was restarted', async () => (await node.property('NRestarts')) === '1', { timeoutMs: 60_000 });
  const restarted = await node.allReady(...names);
  assert.notEqual(await node.property('MainPID'), pid);
  assert.deepEqual(restarted, before);
  assert.match(await machine.sh('journalctl -o cat -b -u kubelet'), /Watchdog timeout/);
  await lockHeld();
});

test('systemctl reboot: order, grace and statuses as configured, and static pods run again', async () => {
  await machine.reboot();
  await checkEnds();
  assert.match(await node.log(-1), /Shutdown manager completed processing shutdown event/);
  const record = await machine.sh('cat /var/lib/kubelet/graceful_node_shutdown_state');
  const { startTime, endTime } = JSON.parse(record) as { startTime: string; endTime: string };
  const took = Date.parse(endTime) - Date.parse(startTime);
  assert.ok(took > 16_000 && took < 110_000, `${took} ms`);
  await node.allReady(...names);
});

test('by hand: a plan, the shutdown, and its end', async () => {
  await machine.sh('rm -f /out/*.asked');
  const plan = await machine.sh('PATH=/opt:$PATH kubelet shutdown --plan');
  assert.match(
    plan,
    /^priority 0 and above: 40 seconds, ends at once, by 40 s\n {2}default\/low-node: 40 s of grace\n/,
  );
  const said = await machine.sh('PATH=/opt:$PATH kubelet shutdown', { timeoutMs: 180_000 });
  assert.match(said, /The machine may go down\.\n$/);
  for (const { phase, reason } of (await node.pods()).values())
    assert.deepEqual([phase, reason], ['Failed', 'Terminated']);
  await machine.sh('PATH=/opt:$PATH kubelet shutdown --cancel; systemctl restart kubelet');
  await node.allReady(...names);
});

test('systemctl poweroff does the same, also when logind was restarted before', async () => {
  await machine.sh('systemctl restart systemd-logind');
  await machine.sh('rm -f /out/*.asked /var/lib/kubelet/statuses-at-stop');
  await lockHeld();
  await machine.powerOff();
  await machine.start();
  await checkEnds();
});
