export { startInBackground } from './background.ts';
export { prepareMachine, stopGraceSeconds, type UpDeps, type UpOptions } from './bring-up.ts';
export { canonicalRoot } from './claim-root.ts';
export { instanceNames, type InstanceNames } from './names.ts';
export type { PodDisplay } from './ports.ts';
export { runCommand } from './run-command.ts';
export { readyWord, runNode } from './run-node.ts';
export { takeDown } from './take-down.ts';
