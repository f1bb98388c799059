import type { HttpApiClient } from '../../src/apiserver/index.ts';
import { hostCertificateFiles } from '../../src/apiserver/identity/index.ts';
import type { Settings } from '../../src/config/index.ts';
import { authorityFiles } from '../../src/main/agent/server-files.ts';
import { serverAccessSettings } from '../../src/main/agent/settings/server-settings.ts';
import { servingIdentity } from '../../src/main/agent/serving-identity.ts';
import type { CommonPorts } from '../../src/model/common-ports.ts';
import { createServerAccess, type SecuredPort } from '../../src/server/index.ts';
import { nodeName } from '../support/agent-settings.ts';

/** Who is let in, as the API server says, and a certificate of our own. */
export function securedPort(settings: Settings, common: CommonPorts, api: HttpApiClient): SecuredPort {
  const admission = serverAccessSettings(settings, nodeName);
  if (admission === undefined) throw new Error('the settings have no secured port');
  return {
    access: createServerAccess(admission, { ...common, files: authorityFiles, reviews: api }),
    serving: servingIdentity({
      ...common,
      settings,
      nodeName,
      files: hostCertificateFiles(common.random),
      cluster: { api, addresses: () => [] },
    }),
  };
}
