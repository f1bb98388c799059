import { join } from 'node:path';

/** Who runs the tests has built the programs and says where they are: tools/lib/control-plane-programs.mjs. */
const variable = 'TUBELET_CONTROL_PLANE_PROGRAMS';

export type ProgramName =
  | 'etcd'
  | 'hostpathplugin'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubectl'
  | 'kubelet'
  | 'metrics-server'
  | 'pprof';

export function programPath(name: ProgramName): string {
  const folder = process.env[variable];
  if (folder === undefined) throw new Error(`${variable} is not set; start this by npm test or npm run control-plane`);
  return join(folder, name);
}
