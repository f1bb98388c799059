import type { NodeFacts } from '../../model/runtime-settings.ts';
import { createNodeView, type NodeViews } from '../../node/create-node-view.ts';
import type { AgentContext } from './create-context.ts';
import { admissionNodeSettings } from './settings/node-settings.ts';
import { nodeFacts } from './settings/runtime-settings.ts';

/** The node as pods and volumes read it. */
export interface AgentNode {
  readonly views: NodeViews;
  readonly facts: NodeFacts;
  readonly hostIps: () => readonly string[];
}

export function createAgentNode({ settings, facts, cluster }: AgentContext): AgentNode {
  const { ports, signals, host, cri, nodeName, formerDevices } = facts;
  const views = createNodeView({
    ports,
    settings: admissionNodeSettings(settings, nodeName),
    signals: signals.node,
    runtime: cri,
    kernel: host.kernel,
    host,
    formerDevices,
    cluster,
  });
  const { view } = views;
  return { views, facts: nodeFacts(host.machine, () => view.allocatable()), hostIps: () => view.hostIps() };
}
