/** What the recorder may keep. Every number bounds what tenants, the runtime or a plugin could make it grow by. */
export interface RecorderLimits {
  readonly podEntries: number;
  readonly podBytes: number;
  readonly nodeEntries: number;
  readonly nodeBytes: number;
  /** Pods that are not removed. No node runs as many; of more, those are dropped first whose last decision is oldest. */
  readonly pods: number;
  /** Pods that were removed and can still be read. */
  readonly removedPods: number;
}

export const recorderLimits: RecorderLimits = {
  podEntries: 64,
  podBytes: 24 * 1_024,
  nodeEntries: 512,
  nodeBytes: 512 * 1_024,
  pods: 1_024,
  removedPods: 128,
};

/** Of one decision. */
export const decisionLimits = {
  reasonBytes: 128,
  messageBytes: 1_024,
  /** All keys and values of the inputs together, in characters. */
  inputsLength: 4_096,
  inputTextBytes: 256,
  inputItems: 32,
  inputDepth: 3,
} as const;

export interface CallLimits {
  readonly underWay: number;
  readonly slow: number;
  readonly failed: number;
}

export const callLimits: CallLimits = { underWay: 512, slow: 64, failed: 64 };
