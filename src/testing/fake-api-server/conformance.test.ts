import { connectApiServer } from '../../apiserver/index.ts';
import { silentLog } from '../../base/log.ts';
import { systemClock } from '../../base/system-clock.ts';
import { defineApiConformance } from '../api-conformance/index.ts';
import { FakeApiServer, serveFakeApiServer } from './index.ts';

const clock = systemClock();

defineApiConformance('the fake API server in process', async () => {
  const fake = new FakeApiServer({ clock });
  return {
    connection: { transport: fake, credentials: { authorization: async () => undefined } },
    forget: async () => fake.compact(),
    stop: async () => {},
  };
});

defineApiConformance('the fake API server behind HTTPS', async () => {
  const fake = new FakeApiServer({ clock });
  const served = await serveFakeApiServer(fake);
  const access = await served.access({ name: 'kubernetes-admin', groups: ['system:masters'] });
  const connection = await connectApiServer(access, { clock, log: silentLog, environment: {} });
  return {
    connection,
    forget: async () => fake.compact(),
    async stop() {
      await connection.transport.close();
      await served.stop();
    },
  };
});
