import { connectApiServer } from '../../../src/apiserver/index.ts';
import { loadKubeconfig } from '../../../src/testing/load-kubeconfig.ts';
import { silentLog } from '../../../src/base/log.ts';
import { defineApiConformance } from '../../../src/testing/api-conformance/index.ts';
import { clock } from '../../support/real-wait.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { processesOf } from './processes-of.ts';

defineApiConformance('kube-apiserver', async () => {
  const plane = await startControlPlane({ audit: false });
  const access = await loadKubeconfig(plane.adminKubeconfig);
  const connection = await connectApiServer(access, { clock, log: silentLog, environment: {} });
  return {
    connection,
    async forget() {
      await compactEtcd(plane);
      // It keeps what it saw in its memory; a new one has seen nothing.
      await plane.stopApiServer();
      await plane.startApiServer();
      connection.transport.reset();
    },
    async stop() {
      await connection.transport.close();
      await plane.stop();
    },
  };
});

/** etcd forgets every version before its newest one. */
async function compactEtcd(plane: ControlPlane): Promise<void> {
  const flag = '--listen-client-urls=';
  const words = processesOf(plane.path).flatMap((command) => command.split(' '));
  const url = words.find((word) => word.startsWith(flag))?.slice(flag.length);
  if (url === undefined) throw new Error('etcd does not run');
  const ask = async (path: string, body: object): Promise<{ readonly header: { readonly revision: string } }> => {
    const answer = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`etcd answers ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as { readonly header: { readonly revision: string } };
  };
  const { header } = await ask('/v3/kv/range', { key: Buffer.from('/').toString('base64'), count_only: true });
  await ask('/v3/kv/compaction', { revision: header.revision, physical: true });
}
