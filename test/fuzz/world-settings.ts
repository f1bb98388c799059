import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { loadSettings, type Settings } from '../../src/config/index.ts';

/** An agent with all its ports open and everything switched on that can be, its files below a folder. */
export async function fuzzSettings(folder: string): Promise<Settings> {
  const [readOnlyPort, healthzPort, port] = [await freePort(), await freePort(), await freePort()];
  const config = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: '127.0.0.1',
    port,
    readOnlyPort,
    healthzPort,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true, cacheTTL: '20s' },
      x509: { clientCAFile: join(folder, 'ca.crt') },
    },
    authorization: { mode: 'Webhook', webhook: { cacheAuthorizedTTL: '1m', cacheUnauthorizedTTL: '20s' } },
    streamingConnectionIdleTimeout: '20s',
    enableSystemLogQuery: true,
    podLogsDir: join(folder, 'pods'),
    featureGates: {
      ComponentStatusz: true,
      ComponentFlagz: true,
      NodeLogQuery: true,
      PodLogsQuerySplitStreams: true,
    },
  };
  const loaded = loadSettings({
    argv: [
      '--config=/kubelet.json',
      '--kubeconfig=/kubeconfig',
      `--root-dir=${folder}/root`,
      `--cert-dir=${folder}/pki`,
    ],
    version: '1',
    cwd: '/',
    readFile: () => JSON.stringify(config),
    listDir: () => [],
  });
  if (loaded.kind !== 'run') throw new Error(`the settings cannot be read: ${JSON.stringify(loaded)}`);
  return loaded.settings;
}

/** A port that nobody has just now. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return port;
}
