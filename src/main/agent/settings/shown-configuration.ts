import { selfSignedPaths } from '../../../apiserver/identity/index.ts';
import { toConfigz, type Settings } from '../../../config/index.ts';

/** What `/configz` serves: the effective configuration, with the agent's own defaults. */
export function shownConfiguration({ config, flags }: Settings): ReturnType<typeof toConfigz> {
  const { tlsCertFile, tlsPrivateKeyFile, serverTLSBootstrap } = config;
  if (serverTLSBootstrap || tlsCertFile !== '' || tlsPrivateKeyFile !== '') return toConfigz(config);
  const { certificateFile, keyFile } = selfSignedPaths(flags.certDir);
  return toConfigz({ ...config, tlsCertFile: certificateFile, tlsPrivateKeyFile: keyFile });
}
