import type { CommonPorts } from '../model/common-ports.ts';
import type { Component } from '../base/component.ts';
import type { AdmissionNode } from '../model/admission-node.ts';
import type { KernelFacts } from '../model/host-facts.ts';
import { admissionNode, type AdmissionNodeSettings } from './admission-node.ts';
import { CsiNodeRecord } from './csinode/csi-node-record.ts';
import type { FormerDevices } from './former-devices.ts';
import { nodeConditions } from './node-conditions.ts';
import type { NodeSignals } from './node-signals.ts';
import { NodeView, type NodeReader } from './node-view.ts';
import type { NodeCluster } from './ports.ts';
import { RuntimeHealth, type RuntimeStatusSource } from './runtime-health/index.ts';
import type { RuntimeFactsView, StorageReadiness } from './status/node-sources.ts';

interface NodeViewDeps {
  readonly ports: CommonPorts;
  readonly settings: AdmissionNodeSettings;
  readonly signals: Pick<NodeSignals, 'statusDue' | 'own' | 'registered' | 'shutdown'>;
  readonly runtime: RuntimeStatusSource;
  readonly kernel: KernelFacts;
  readonly host: { outwardAddresses(): readonly string[] };
  readonly formerDevices: FormerDevices;
  /** Undefined on a node without an API server. */
  readonly cluster: NodeCluster | undefined;
}

export interface NodeViews {
  /** Must be started before the first pod is reconciled. */
  readonly early: readonly Component[];
  /** Components that write to the API server; started when pods may come and go. */
  readonly late: readonly Component[];
  /** The node as all other subsystems read it. */
  readonly view: NodeReader;
  /** Whether the runtime is healthy, and its features. */
  readonly health: RuntimeFactsView;
  readonly storage: StorageReadiness;
  /** Where storage drivers are recorded; only with an API server. */
  readonly driverRecord: Pick<CsiNodeRecord, 'setDriver' | 'removeDriver'> | undefined;
  /** The node for the admission of pods, at the time of the call. */
  readonly admissionNode: () => AdmissionNode;
}

const readyWithoutRecord: StorageReadiness = { problem: () => undefined };

/** What pods, volumes and drivers read of the node; it does not need them. `createNode` makes the parts that do. */
export function createNodeView(deps: NodeViewDeps): NodeViews {
  const { ports, settings, signals, runtime, kernel, host, formerDevices, cluster } = deps;
  const { statusDue } = signals;
  const conditions = nodeConditions(signals.shutdown);
  const { nodeName } = settings;
  const health = new RuntimeHealth({ ...ports, runtime, statusDue });
  const view = new NodeView({
    nodeName,
    mirror: cluster?.mirror,
    devices: formerDevices.devices.allocatable,
    outwardAddresses: () => host.outwardAddresses(),
  });
  signals.own.listen((node) => view.setOwn(node));
  const record = cluster && new CsiNodeRecord({ ...ports, ...cluster, nodeName, statusDue });
  signals.registered.listen((node) => record?.begin(node));
  return {
    early: [health],
    late: record ? [record] : [],
    view,
    health,
    storage: record ?? readyWithoutRecord,
    driverRecord: record,
    admissionNode: () => admissionNode({ settings, kernel, view, health, conditions }),
  };
}
