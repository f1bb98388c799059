import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { credentials, type ServiceError } from '@grpc/grpc-js';
import { silentLog } from '../../src/base/log.ts';
import { systemClock } from '../../src/base/system-clock.ts';
import {
  ContainerConfig,
  ImageServiceClient,
  PodSandboxConfig,
  PodSandboxState,
  RuntimeServiceClient,
  type ListImagesResponse,
  type PodSandboxStatusResponse,
} from '../../src/gen/cri/api.ts';
import { startPrivateRuntime, type PrivateRuntime } from '../../src/testing/private-runtime.ts';
import { instanceNames } from '../../src/up/index.ts';
import { footprint, nothing, type Listing } from '../support/real-footprint.ts';

const clock = systemClock();
let base: string;

before(() => {
  base = mkdtempSync(join(tmpdir(), 'tubelet-runtime-'));
});
after(() => rmSync(base, { recursive: true, force: true }));

/** Starts a runtime for the length of a test; a test that fails leaves nothing behind either. */
async function withRuntime(name: string, use: (runtime: PrivateRuntime) => Promise<void>): Promise<void> {
  const runtime = await startPrivateRuntime({ root: join(base, name), log: silentLog, clock });
  try {
    await use(runtime);
  } finally {
    await runtime.destroy();
  }
}

const footprintOf = (runtime: PrivateRuntime): Promise<Listing> => footprint(instanceNames(runtime.root));

describe('a private runtime', () => {
  test('has the starter images, runs a pod from them, and leaves nothing behind', async () => {
    let left: Listing = {};
    await withRuntime('plain', async (runtime) => {
      const names = (await listImages(runtime)).images.flatMap((image) => image.repoTags);
      assert.ok(names.includes(runtime.images.pause) && names.includes(runtime.images.busybox), names.join(' '));
      const pod = await runPod(runtime, 'web');
      assert.match(await readPage(`http://${pod.ip}:8080/`), /hello from web/);
      const full = await footprintOf(runtime);
      // Each kind is there now, so that finding none later means something.
      for (const [kind, found] of Object.entries(full)) assert.notDeepEqual(found, [], kind);
      await runtime.destroy();
      left = await footprintOf(runtime);
    });
    assert.deepEqual(left, nothing);
  });

  test('is removed after containerd was killed', async () => {
    await withRuntime('killed', async (runtime) => {
      await runPod(runtime, 'web');
      process.kill(runtime.pid, 'SIGKILL');
      await runtime.destroy();
      assert.deepEqual(await footprintOf(runtime), nothing);
    });
  });

  test('is removed after containerd and the shims were killed, which leaves containers without parents', async () => {
    await withRuntime('orphans', async (runtime) => {
      await runPod(runtime, 'web');
      process.kill(runtime.pid, 'SIGKILL');
      for (const pid of shims(runtime)) process.kill(pid, 'SIGKILL');
      await runtime.destroy();
      assert.deepEqual(await footprintOf(runtime), nothing);
      assert.deepEqual(shims(runtime), []);
    });
  });

  test('is removed although its journal cannot be read', async () => {
    await withRuntime('forgetful', async (runtime) => {
      await runPod(runtime, 'web');
      writeFileSync(join(runtime.root, 'state.json'), '{"version":');
      await runtime.destroy();
      assert.deepEqual(await footprintOf(runtime), nothing);
    });
  });

  test('can be destroyed twice', async () => {
    await withRuntime('twice', async (runtime) => {
      await runtime.destroy();
      await runtime.destroy();
      assert.deepEqual(await footprintOf(runtime), nothing);
    });
  });

  test('keeps its pods over stop and start', async () => {
    await withRuntime('again', async (first) => {
      const pod = await runPod(first, 'web');
      await first.stop();
      assert.match(await readPage(`http://${pod.ip}:8080/`), /hello from web/);
      const second = await startPrivateRuntime({ root: first.root, log: silentLog, clock });
      assert.equal(second.subnet, first.subnet);
      assert.notEqual(second.pid, first.pid);
      const states = await withClient(second, (runtime) =>
        call<{ items: { id: string; state: PodSandboxState }[] }>((done) =>
          runtime.listPodSandbox({ filter: undefined }, done),
        ),
      );
      assert.deepEqual(
        states.items.map((item) => [item.id, item.state]),
        [[pod.id, PodSandboxState.SANDBOX_READY]],
      );
    });
  });

  test('has neighbours that do not notice its end', async () => {
    await withRuntime('left', async (left) => {
      await withRuntime('right', async (right) => {
        assert.notEqual(left.subnet, right.subnet);
        const pod = await runPod(left, 'left-web');
        await runPod(right, 'right-web');
        await right.destroy();
        assert.match(await readPage(`http://${pod.ip}:8080/`), /hello from left-web/);
        assert.deepEqual(await footprintOf(right), nothing);
        assert.notDeepEqual((await footprintOf(left))['rules'], []);
      });
    });
  });

  test('lives in a root whose path is longer than a socket address', async () => {
    await withRuntime(`${'deep/'.repeat(30)}root`, async (runtime) => {
      assert.ok(runtime.endpoint.length < 107);
      assert.equal((await listImages(runtime)).images.length, 2);
    });
  });

  test('refuses a root that is taken or holds something else, and touches neither', async () => {
    await withRuntime('taken', async (runtime) => {
      await assert.rejects(startPrivateRuntime({ root: runtime.root, log: silentLog, clock }), /already running/);
      assert.equal((await listImages(runtime)).images.length, 2);
    });
    const foreign = mkdtempSync(join(base, 'foreign-'));
    writeFileSync(join(foreign, 'precious'), 'mine');
    await assert.rejects(startPrivateRuntime({ root: foreign, log: silentLog, clock }), /not tubelet's/);
    assert.deepEqual(readdirSync(foreign), ['precious']);
  });
});

interface RunningPod {
  readonly id: string;
  readonly ip: string;
}

async function runPod(runtime: PrivateRuntime, name: string): Promise<RunningPod> {
  const config = PodSandboxConfig.fromPartial({
    metadata: { name, uid: `uid-${name}`, namespace: 'default', attempt: 0 },
    hostname: name,
    logDirectory: join(runtime.root, 'pod-logs', name),
    linux: { cgroupParent: `${runtime.cgroupRoot}/pod-${name}` },
  });
  return withClient(runtime, async (client) => {
    const { podSandboxId } = await call<{ podSandboxId: string }>((done) =>
      client.runPodSandbox({ config, runtimeHandler: '' }, done),
    );
    const container = ContainerConfig.fromPartial({
      metadata: { name: 'web', attempt: 0 },
      image: { image: runtime.images.busybox },
      command: ['sh', '-c', `echo hello from ${name} > /tmp/index.html && exec httpd -f -p 8080 -h /tmp`],
      logPath: 'web.log',
    });
    const { containerId } = await call<{ containerId: string }>((done) =>
      client.createContainer({ podSandboxId, config: container, sandboxConfig: config }, done),
    );
    await call((done) => client.startContainer({ containerId }, done));
    const { status } = await call<PodSandboxStatusResponse>((done) =>
      client.podSandboxStatus({ podSandboxId, verbose: false }, done),
    );
    return { id: podSandboxId, ip: status?.network?.ip ?? '' };
  });
}

/** The page of a server that has just been started. */
async function readPage(url: string): Promise<string> {
  const until = clock.monotonic() + 10_000;
  for (;;) {
    try {
      return await (await fetch(url)).text();
    } catch (error) {
      if (clock.monotonic() > until) throw error;
      await clock.sleep(20);
    }
  }
}

async function listImages(runtime: PrivateRuntime): Promise<ListImagesResponse> {
  const images = new ImageServiceClient(grpcAddress(runtime), credentials.createInsecure());
  try {
    return await call((done) => images.listImages({ filter: undefined }, done));
  } finally {
    images.close();
  }
}

async function withClient<Result>(
  runtime: PrivateRuntime,
  use: (client: RuntimeServiceClient) => Promise<Result>,
): Promise<Result> {
  const client = new RuntimeServiceClient(grpcAddress(runtime), credentials.createInsecure());
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

function call<Reply>(invoke: (done: (error: ServiceError | null, reply: Reply) => void) => unknown): Promise<Reply> {
  return new Promise((resolve, reject) => {
    invoke((error, reply) => (error === null ? resolve(reply) : reject(error)));
  });
}

function shims(runtime: PrivateRuntime): readonly number[] {
  const socket = runtime.endpoint.slice('unix://'.length);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      const argv = readText(`/proc/${pid}/cmdline`).split('\0');
      return argv[0]?.includes('containerd-shim') === true && argv.includes(socket);
    })
    .map(Number);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The process has ended meanwhile.
    return '';
  }
}

const grpcAddress = (runtime: PrivateRuntime): string => runtime.endpoint.replace('unix://', 'unix:');
