import { arch, platform } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import type { Metrics } from '../../base/metrics.ts';
import { gateSpec, kubernetesRelease, type Settings } from '../../config/index.ts';
import { goArchitecture } from '../../model/architecture.ts';
import {
  EngineMetrics,
  processMetrics,
  registryMetrics,
  startTimeMetric,
  type EngineMeter,
  type Registry,
} from '../../telemetry/index.ts';

interface AgentMetricsDeps {
  /** The registry of `/metrics`. */
  readonly registry: Registry;
  /** The registries of other pages that report their start time. */
  readonly otherPages: readonly Registry[];
  readonly settings: Pick<Settings, 'featureGates' | 'version'>;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly engine: EngineMeter;
}

interface AgentMetrics {
  /** The measuring components; must be started before all others. */
  readonly components: readonly Component[];
}

/** Metrics of the agent as a program: its version, its settings, its process. */
export function agentMetrics({ registry, otherPages, settings, nodeName, ...deps }: AgentMetricsDeps): AgentMetrics {
  processMetrics(registry);
  for (const page of otherPages) startTimeMetric(page);
  registryMetrics(registry);
  buildMetrics(registry, settings.version);
  gateMetrics(registry, settings.featureGates.all);
  registry
    .gauge({ name: 'kubelet_node_name', help: "The node's name.", stability: 'ALPHA', labels: ['node'] })
    .set(1, { node: nodeName });
  return { components: [new EngineMetrics(registry, deps.clock, deps.engine)] };
}

function buildMetrics(metrics: Metrics, version: string): void {
  const [major = '', minor = ''] = kubernetesRelease.split('.');
  metrics
    .gauge({
      name: 'kubernetes_build_info',
      help: 'What this program is.',
      stability: 'ALPHA',
      labels: [
        'build_date',
        'compiler',
        'git_commit',
        'git_tree_state',
        'git_version',
        'go_version',
        'major',
        'minor',
        'platform',
      ],
    })
    .set(1, {
      build_date: '',
      compiler: 'v8',
      git_commit: '',
      git_tree_state: '',
      git_version: version,
      // Dashboards expect this label, whatever language the program is written in.
      go_version: `node${process.versions.node}`,
      major,
      minor,
      platform: `${platform()}/${goArchitecture(arch())}`,
    });
  metrics
    .gauge({
      name: 'version_info',
      help: 'The release this program is like, and the oldest it gets along with.',
      stability: 'ALPHA',
      labels: ['component', 'binary', 'emulation', 'min_compat'],
    })
    .set(1, {
      component: 'kube',
      binary: `${major}.${minor}`,
      emulation: `${major}.${minor}`,
      min_compat: `${major}.${Number(minor) - 1}`,
    });
}

/** Gates that this program does not know have no stage and are left out. */
function gateMetrics(metrics: Metrics, gates: Readonly<Record<string, boolean>>): void {
  const enabled = metrics.gauge({
    name: 'kubernetes_feature_enabled',
    help: 'Feature gates, and whether they are on.',
    stability: 'BETA',
    labels: ['name', 'stage'],
  });
  for (const [name, isOn] of Object.entries(gates)) {
    const stage = stageOf(name);
    if (stage !== undefined) enabled.set(isOn ? 1 : 0, { name, stage });
  }
}

function stageOf(gate: string): string | undefined {
  if (gate === 'AllAlpha') return 'ALPHA';
  if (gate === 'AllBeta') return 'BETA';
  const stage = gateSpec(gate)?.stage;
  if (stage === undefined || stage === 'other') return undefined;
  return stage === 'ga' ? '' : stage.toUpperCase();
}
