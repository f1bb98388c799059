import type { Masked } from '../../base/masked.ts';

/** A text in the kubeconfig itself, or in a file that may change. */
export type PemSource = { readonly file: string } | { readonly data: string };
export type KeySource = { readonly file: string } | { readonly data: Masked<string> };

/**
 * The API server's address, its authority, and the user's credentials: one context of a kubeconfig, with absolute
 * paths.
 */
export interface ApiServerAccess {
  readonly server: URL;
  /** Without it the authorities of the system are used. */
  readonly certificateAuthority?: PemSource;
  readonly tlsServerName?: string;
  readonly insecureSkipTlsVerify: boolean;
  readonly proxyUrl?: string;
  readonly disableCompression: boolean;
  readonly user: UserAccess;
  /** Of the context; `default` when it names none. */
  readonly namespace: string;
  /** The cluster's configuration for an exec plugin. */
  readonly execConfig?: unknown;
}

export interface UserAccess {
  /** Both or none. */
  readonly clientCertificate?: PemSource;
  readonly clientKey?: KeySource;
  readonly token?: Masked<string>;
  /** Takes precedence over `token` once it could be read. */
  readonly tokenFile?: string;
  readonly basic?: Masked<{ readonly username: string; readonly password: string }>;
  readonly exec?: ExecPlugin;
}

export interface ExecPlugin {
  readonly apiVersion: 'client.authentication.k8s.io/v1' | 'client.authentication.k8s.io/v1beta1';
  /** A path, or a name to be found in PATH. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Masked<Readonly<Record<string, string>>>;
  readonly provideClusterInfo: boolean;
  /** A message for operators who do not have the program. */
  readonly installHint?: string;
}
