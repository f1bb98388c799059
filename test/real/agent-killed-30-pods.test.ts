import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Pod, PodStatus } from '../../src/gen/kubernetes/types.ts';
import { readyCondition, RealNode } from '../support/real-node.ts';
import { allPods, containerOf, idle, podOf, podWhen, SharedFolder, shell } from '../support/real-pods.ts';
import type { Program } from '../support/real-program.ts';
import type { SeenContainer } from '../support/real-runtime.ts';
import { clock, until } from '../support/real-wait.ts';

/**
 * Agents come and go under thirty ready pods, and nobody who watches the pods can tell. What is measured:
 *
 * - Every status in /pods, asked for all the time every 100 ms, is word for word the one from before the first end: the
 *   phase, each condition with its transition time, each container with id, start, restarts and readiness. A transition
 *   that was over between two looks would have left its time in the conditions.
 * - The runtime has the same containers, and no others, not even dead ones.
 * - Each agent did probe each pod, several times: pods count how often they were asked. One failure in a row is enough
 *   to make a pod unready, and in the end a pod that says no is believed.
 */
const kinds = ['exec', 'http', 'tcp'] as const;
const names = Array.from({ length: 30 }, (_, index) => `${kinds[index % kinds.length]}-${index}`);

const count = 'echo >> /shared/asked';
/** The lines of a header end as HTTP wants it. */
const page = [
  '#!/bin/sh',
  count,
  '[ -f /shared/sick ] && echo Status: 503\\r',
  'echo Content-Type: text/plain\\r',
  'echo \\r',
  '',
].join('\\n');
const makePage = `mkdir -p /www/cgi-bin; printf '${page}' > /www/cgi-bin/ready; chmod +x /www/cgi-bin/ready`;
/** What pods of each kind run, and how they are asked. */
const programs: Readonly<Record<(typeof kinds)[number], { readonly script: string; readonly probe: object }>> = {
  exec: { script: idle, probe: { exec: { command: ['sh', '-c', `${count}; test ! -f /shared/sick`] } } },
  http: {
    script: `${makePage}; exec httpd -f -p 8080 -h /www`,
    probe: { httpGet: { path: '/cgi-bin/ready', port: 8080 } },
  },
  tcp: { script: `exec nc -ll -p 8080 -e sh -c '${count}'`, probe: { tcpSocket: { port: 8080 } } },
};

const lookMs = 100;
/** How often each pod must have been probed before an agent is ended. */
const rounds = 3;
/** After the second end nobody probes for longer than any period. */
const ends = [
  { signal: 'SIGKILL', pauseMs: 0 },
  { signal: 'SIGKILL', pauseMs: 3_000 },
  { signal: 'SIGTERM', pauseMs: 0 },
] as const;

let node: RealNode;
before(async () => {
  node = await RealNode.start('killed-30');
  for (const [index, name] of names.entries()) node.put(name, probedPod(name, 1 + (index % 2)));
});
after(() => node?.destroy());

/** A pod that becomes unready at the first failure, and writes down each time it is asked. */
function probedPod(name: string, periodSeconds: number): object {
  const { volumes, mounts } = new SharedFolder(node, name);
  const { script, probe } = programs[kindOf(name)];
  const readinessProbe = { ...probe, periodSeconds, failureThreshold: 1, timeoutSeconds: 10 };
  const containers = [shell('main', node.image, script, { ...mounts, readinessProbe })];
  return podOf(name, { terminationGracePeriodSeconds: 2, volumes, containers });
}

const kindOf = (name: string): (typeof kinds)[number] => kinds.find((kind) => name.startsWith(kind)) ?? 'exec';

/** How often the pod has been probed, by its own count. */
const asked = (name: string): number =>
  statSync(new SharedFolder(node, name).file('asked'), { throwIfNoEntry: false })?.size ?? 0;

/** Waits until each pod has been probed several times more. */
async function probedAgain(): Promise<void> {
  const first = new Map(names.map((name) => [name, asked(name)]));
  const left = (): readonly string[] => names.filter((name) => asked(name) < (first.get(name) ?? 0) + rounds);
  await until('every pod was probed again', () => left().length === 0, { timeoutMs: 60_000, state: left });
}

async function instances(): Promise<readonly (readonly SeenContainer[])[]> {
  return Promise.all(names.map((name) => node.runtime.containers(name)));
}

/** Looks at /pods all the time, and keeps what differs from what it should see. */
class Watch {
  readonly #expected: ReadonlyMap<string, PodStatus | undefined>;
  readonly #ended = new AbortController();
  readonly #done: Promise<void>;
  /** What was seen and should not have been, in the order of time. */
  readonly surprises: { readonly name: string; readonly life: number; readonly status: PodStatus | undefined }[] = [];
  /** Statuses seen of each agent. */
  readonly seen: number[] = [];

  constructor(expected: ReadonlyMap<string, PodStatus | undefined>) {
    this.#expected = expected;
    this.nextLife();
    this.#done = this.#look();
  }

  nextLife(): void {
    this.seen.push(0);
  }

  async end(): Promise<void> {
    this.#ended.abort();
    await this.#done;
  }

  async #look(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      for (const [name, { status }] of await podsIfAny()) {
        const life = this.seen.length - 1;
        this.seen[life] = (this.seen[life] ?? 0) + 1;
        const isSame = JSON.stringify(status) === JSON.stringify(this.#expected.get(name));
        if (!isSame) this.surprises.push({ name, life, status });
      }
      await clock.sleep(lookMs);
    }
  }
}

/** The pods; none while there is no agent to ask. */
async function podsIfAny(): Promise<ReadonlyMap<string, Pod>> {
  try {
    return await allPods(node);
  } catch (error) {
    // Refused, reset in the middle of an answer, or too late: only an agent that is there can be wrong.
    if (error instanceof TypeError || error instanceof DOMException || error instanceof SyntaxError) return new Map();
    throw error;
  }
}

async function allReady(): Promise<ReadonlyMap<string, Pod>> {
  const unready = async (): Promise<readonly string[]> => {
    const pods = await podsIfAny();
    return names.filter((name) => readyCondition(pods.get(name)) !== 'True');
  };
  await until('all pods are ready', async () => (await unready()).length === 0, { timeoutMs: 120_000, state: unready });
  return allPods(node);
}

describe('agents that are ended and started again under thirty ready pods', () => {
  test('restart no container and change no readiness', async (t) => {
    let agent: Program = await node.workingAgent();
    await allReady();
    await probedAgain();
    const [pods, containers] = [await allReady(), await instances()];
    for (const name of names) {
      const pod = pods.get(name) ?? {};
      const { ready, restartCount } = containerOf(pod, 'main');
      assert.deepEqual([pod.status?.phase, ready, restartCount], ['Running', true, 0], name);
    }
    const watch = new Watch(new Map([...pods].map(([name, { status }]) => [name, status])));
    for (const { signal, pauseMs } of ends) {
      await probedAgain();
      agent.kill(signal);
      await agent.ended;
      await clock.sleep(pauseMs);
      watch.nextLife();
      agent = node.agent();
      await probedAgain();
      await allReady();
    }
    await watch.end();
    assert.deepEqual(watch.surprises.slice(0, 3), []);
    // Thirty pods in each look; a life lasts for several seconds.
    for (const seen of watch.seen) assert.ok(seen >= names.length * 10, `${seen} statuses seen of an agent`);
    assert.deepEqual(await instances(), containers);
    t.diagnostic(`statuses seen of each agent, all as before: ${watch.seen.join(', ')}`);

    // They were not ready for want of looking.
    for (const name of ['exec-0', 'http-1']) {
      writeFileSync(new SharedFolder(node, name).file('sick'), '');
      await podWhen(node, name, 'is unready', (pod) => readyCondition(pod) === 'False');
    }
  });
});
