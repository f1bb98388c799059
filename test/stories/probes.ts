import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { Pod } from '../../src/gen/kubernetes/types.ts';
import { command, container } from './plan.ts';
import { conditionOf, containerOf, isReady, runsAgain, type OpenStage, type StagePod } from './stage.ts';
import { story } from './story.ts';

const every = { periodSeconds: 1, failureThreshold: 1, timeoutSeconds: 10 };
const port = 8080;

/** Runs, has been looked at, and is not ready. */
const isUnready = (pod: Pod): boolean =>
  conditionOf(pod) === 'False' &&
  (pod.status?.containerStatuses?.every(({ state }) => state?.running !== undefined) ?? false);

const unhealthy = (pod: StagePod, message: string): boolean =>
  pod.seen.events().some((event) => event.reason === 'Unhealthy' && event.message === message);

/** Probes of all three purposes and all four kinds. */
export function probeStories(open: OpenStage): void {
  void describe('a probe', { concurrency: true }, () => {
    livenessStories(open);
    startupStories(open);
    readinessStories(open);
  });
}

function livenessStories(open: OpenStage): void {
  story(open, 'of liveness by a command has the container restarted, and says why', async (stage) => {
    const livenessProbe = { ...command({ prints: 'sick', wants: 'alive' }), ...every, failureThreshold: 2 };
    const pod = await stage.give({ name: 'alive', containers: [container('main', {}, { livenessProbe })] });
    await pod.turn('alive', true);
    await pod.when('is ready', isReady);
    await stage.pass(3);
    assert.equal(containerOf((await pod.now()) ?? {}).restartCount, 0);
    await pod.turn('alive', false);
    await pod.when('loses its container', (now) => containerOf(now).lastState?.terminated !== undefined);
    await pod.turn('alive', true);
    const now = await pod.when('runs again', runsAgain(1));
    const { exitCode, reason } = containerOf(now).lastState?.terminated ?? {};
    assert.deepEqual([exitCode, reason], [0, 'Completed']);
    assert.ok(unhealthy(pod, 'Liveness probe failed: sick\n'), JSON.stringify(pod.seen.events()));
    const killing = pod.seen.events().find((event) => event.reason === 'Killing');
    assert.equal(killing?.message, 'Container main failed liveness probe, will be restarted');
  });
}

function startupStories(open: OpenStage): void {
  story(open, 'of startup holds back the others', async (stage) => {
    const hasStarted = command({ wants: 'started' });
    const pod = await stage.give({
      name: 'starts-slowly',
      containers: [
        container(
          'main',
          {},
          {
            startupProbe: { ...hasStarted, ...every, failureThreshold: 300 },
            // It would end the container if it were asked before the startup probe has succeeded.
            livenessProbe: { ...hasStarted, ...every },
            readinessProbe: { ...hasStarted, ...every },
          },
        ),
      ],
    });
    const before = await pod.when('runs', isUnready);
    assert.equal(containerOf(before).started, false);
    await stage.pass(3);
    await pod.turn('started', true);
    const now = await pod.when('is ready', isReady);
    assert.deepEqual([containerOf(now).started, containerOf(now).restartCount], [true, 0]);
    const changes = pod.seen.statuses().map(({ containerStatuses: [main] = [] }) => `${main?.started} ${main?.ready}`);
    // Ready after started, or at once with it.
    assert.equal(changes.includes('false true'), false, changes.join(', '));
  });

  story(open, 'of startup that never passes ends the container', async (stage) => {
    const startupProbe = { ...command({ wants: 'started' }), ...every, failureThreshold: 2 };
    const pod = await stage.give({
      name: 'never-starts',
      spec: { restartPolicy: 'Never' },
      containers: [container('main', { onTerm: { exits: 9 } }, { startupProbe }), container('other')],
    });
    const now = await pod.when('has lost it', (now) => containerOf(now).state?.terminated !== undefined);
    assert.deepEqual([containerOf(now).state?.terminated?.exitCode, now.status?.phase], [9, 'Running']);
    const killing = pod.seen.events().find((event) => event.reason === 'Killing');
    assert.equal(killing?.message, 'Container main failed startup probe');
  });
}

function readinessStories(open: OpenStage): void {
  story(open, 'of readiness by HTTP follows the answer, and restarts nothing', async (stage) => {
    const readinessProbe = { httpGet: { path: '/ready', port: 'web' }, ...every };
    const ports = [{ name: 'web', containerPort: port }];
    const pod = await stage.give({
      name: 'web',
      containers: [container('main', { serves: port }, { ports, readinessProbe })],
    });
    const first = await pod.when('is not ready', isUnready);
    await pod.turn('ready', true);
    await pod.when('is ready', isReady);
    await pod.turn('ready', false);
    const last = await pod.when('is not ready', isUnready);
    const [one, other] = [containerOf(first), containerOf(last)];
    assert.deepEqual([other.restartCount, other.containerID], [0, one.containerID]);
    const condition = last.status?.conditions?.find(({ type }) => type === 'Ready');
    assert.deepEqual(
      [condition?.reason, condition?.message],
      ['ContainersNotReady', 'containers with unready status: [main]'],
    );
    assert.ok(unhealthy(pod, 'Readiness probe failed: HTTP probe failed with statuscode: 404'));
  });

  story(open, 'of readiness by TCP tells an open port from a closed one', async (stage) => {
    const asking = (at: number): object => ({ readinessProbe: { tcpSocket: { port: at }, ...every } });
    const pod = await stage.give({
      name: 'tcp',
      containers: [
        container('open', { serves: port }, { ...asking(port) }),
        container('closed', {}, { ...asking(8081) }),
      ],
    });
    const now = await pod.when('has a ready container', (pod) => containerOf(pod, 'open').ready);
    assert.deepEqual([containerOf(now, 'closed').ready, conditionOf(now)], [false, 'False']);
    const ip = now.status?.podIP;
    await pod.when('has been told why', () =>
      unhealthy(pod, `Readiness probe failed: dial tcp ${ip}:8081: connect: connection refused`),
    );
  });

  story(open, 'of readiness by gRPC follows the answer of the health service', async (stage) => {
    const health = await stage.health();
    const readinessProbe = { grpc: { port: health.port, service: 'pods' }, ...every };
    const pod = await stage.give({
      name: 'grpc',
      // In the machine's network it reaches the service of the stage.
      spec: { hostNetwork: true },
      containers: [container('main', {}, { readinessProbe })],
    });
    await pod.when('is not ready', isUnready);
    health.serving = true;
    await pod.when('is ready', isReady);
    assert.deepEqual([...health.asked], ['pods']);
    health.serving = false;
    await pod.when('is not ready', isUnready);
    const words = 'Readiness probe failed: service unhealthy (responded with "NOT_SERVING")';
    assert.ok(unhealthy(pod, words), JSON.stringify(pod.seen.events()));
  });
}
