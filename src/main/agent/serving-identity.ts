import type { HttpApiClient } from '../../apiserver/index.ts';
import {
  servingCertificates,
  type CertificateFiles,
  type ServingCertificates,
} from '../../apiserver/identity/index.ts';
import type { CommonPorts } from '../../model/common-ports.ts';
import type { Settings } from '../../config/index.ts';
import type { NodeAddress } from '../../gen/kubernetes/types.ts';

interface ServingIdentityDeps extends CommonPorts {
  readonly settings: Settings;
  readonly nodeName: string;
  readonly files: CertificateFiles;
  /** Undefined without an API server. */
  readonly cluster: { readonly api: HttpApiClient; readonly addresses: () => readonly NodeAddress[] } | undefined;
}

type NodeServing = ServingCertificates & { addressesChanged?(): void };

/** The certificate of the node's server: from files, issued by the cluster, or self-signed. */
export function servingIdentity(deps: ServingIdentityDeps): NodeServing {
  const { settings, nodeName, cluster, ...ports } = deps;
  const { config, flags, featureGates } = settings;
  return servingCertificates(
    {
      tlsCertFile: config.tlsCertFile,
      tlsPrivateKeyFile: config.tlsPrivateKeyFile,
      certDir: flags.certDir,
      serverTlsBootstrap: config.serverTLSBootstrap && featureGates.enabled('RotateKubeletServerCertificate'),
      reloadFiles: featureGates.enabled('ReloadKubeletServerCertificateFile'),
      nodeName,
      hostName: nodeName,
    },
    { ...ports, ...(cluster && { cluster }) },
  );
}
