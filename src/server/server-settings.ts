import type { AccessOptions } from './auth/access.ts';
import type { AuthenticationSettings } from './auth/authenticators.ts';
import type { AuthorizationSettings } from './auth/authorizers.ts';
import type { SwitchStates } from './listener/availability.ts';
import type { ServerLimits } from './listener/limits.ts';
import type { TlsSettings } from './listener/tls-parameters.ts';
import type { PageLine } from './routes/people-page.ts';

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** Who may ask what on the secured port. */
export interface ServerAccessSettings {
  readonly nodeName: string;
  readonly authentication: AuthenticationSettings;
  readonly authorization: AuthorizationSettings;
}

/** What the agent says of itself, the same for as long as it runs. */
export interface SelfSettings {
  /** The effective configuration as the API writes it, without secrets. */
  readonly kubeletconfig: object;
  /** Names with values, secrets masked. */
  readonly flags: readonly PageLine[];
  /** The release that is reported: `v1.34.0+tubelet.0.1.0`. */
  readonly version: string;
  /** Of the program that runs the agent. */
  readonly nodeVersion: string;
  /** The command line of this process. */
  readonly argv: readonly string[];
  /** syncFrequency. */
  readonly syncPeriodMs: number;
}

export interface ServerSettings {
  /** The ports without access control; nothing where one is not wanted. */
  readonly healthz: Endpoint | undefined;
  readonly readOnly: Endpoint | undefined;
  /** The pages of the read-only port, by a socket that only this user may open. */
  readonly socketPath: string | undefined;
  readonly secure: Endpoint & { readonly tls: TlsSettings };
  readonly switches: SwitchStates;
  readonly access: AccessOptions;
  readonly limits: ServerLimits;
  /** streamingConnectionIdleTimeout. */
  readonly streamIdleMs: number;
  readonly self: SelfSettings;
  /** There is no API server. */
  readonly isStandalone: boolean;
  /** The agent's root directory. */
  readonly rootDir: string;
  readonly podLogsDir: string;
  /** enableSystemLogQuery and the gate NodeLogQuery. */
  readonly nodeLogQuery: boolean;
  /** The gate PodLogsQuerySplitStreams. */
  readonly splitStreams: boolean;
  /** Where the machine says so. */
  readonly cpuFrequencyKhz: number | undefined;
  /** The gate KubeletPodResourcesGet. */
  readonly podResourcesGet: boolean;
}
