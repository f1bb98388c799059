import type { Masked } from '../../base/masked.ts';

/** A text that stands in the kubeconfig itself, or in a file that may change. */
export type PemSource = { readonly file: string } | { readonly data: string };
export type KeySource = { readonly file: string } | { readonly data: Masked<string> };

/** Where the API server is, how to know it, and who to be: one context of a kubeconfig, with all paths absolute. */
export interface ApiServerAccess {
  readonly server: URL;
  /** Without it the authorities of the system count. */
  readonly certificateAuthority?: PemSource;
  readonly tlsServerName?: string;
  readonly insecureSkipTlsVerify: boolean;
  readonly proxyUrl?: string;
  readonly disableCompression: boolean;
  readonly user: UserAccess;
  /** Of the context; `default` when it names none. */
  readonly namespace: string;
  /** What the cluster has to say to an exec plugin. */
  readonly execConfig?: unknown;
}

export interface UserAccess {
  /** Both or none. */
  readonly clientCertificate?: PemSource;
  readonly clientKey?: KeySource;
  readonly token?: Masked<string>;
  /** Counts before `token` once something could be read from it. */
  readonly tokenFile?: string;
  readonly basic?: Masked<{ readonly username: string; readonly password: string }>;
  readonly exec?: ExecPlugin;
}

export interface ExecPlugin {
  readonly apiVersion: 'client.authentication.k8s.io/v1' | 'client.authentication.k8s.io/v1beta1';
  /** A path, or a name to be found by PATH. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Masked<Readonly<Record<string, string>>>;
  readonly provideClusterInfo: boolean;
  /** What to tell somebody who does not have the program. */
  readonly installHint?: string;
}
