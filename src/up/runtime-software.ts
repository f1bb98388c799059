import type { InstanceNames } from './names.ts';
import type { RunCommand } from './ports.ts';

export type Snapshotter = 'overlayfs' | 'native';

/** What an instance decides for its runtime. */
export interface RuntimeSetup {
  readonly snapshotter: Snapshotter;
  /** What makes the cgroups of containers. */
  readonly cgroupDriver: 'cgroupfs' | 'systemd';
}

export interface ImageArchive {
  /** An OCI image layout in a tar file. */
  readonly path: string;
  readonly reference: string;
}

interface RuntimeFile {
  readonly path: string;
  readonly text: string;
  readonly mode?: number;
}

/** A container runtime as an instance runs it: every path in its configuration is the instance's. */
export interface RuntimeSoftware {
  /** Its name in messages. */
  readonly name: string;
  readonly program: string;
  readonly args: (names: InstanceNames) => readonly string[];
  /** What it reads when it starts. */
  readonly files: (names: InstanceNames, setup: RuntimeSetup) => readonly RuntimeFile[];
  readonly importImage: (
    archive: ImageArchive,
    names: InstanceNames,
    setup: RuntimeSetup,
    run: RunCommand,
    signal?: AbortSignal,
  ) => Promise<void>;
}
