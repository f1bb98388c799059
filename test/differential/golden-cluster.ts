import type { ConfigMap, Node, Pod, Secret, Service } from '../../src/gen/kubernetes/types.ts';
import type { ApiObject } from '../../src/model/api-client.ts';
import { podObject } from '../../src/model/desired-pod.ts';
import type { FakeApiServer } from '../../src/testing/fake-api-server/index.ts';
import { goldenLookup, goldenPod, type GoldenRecord } from '../../src/testing/golden.ts';
import { recordedNode } from './recorded-node.ts';
import { inRealWords, type RecordedNames } from './recorded-names.ts';

/** Puts into the cluster what it had when the records were made: the node, and the objects that the pods refer to. */
export function stageCluster({ objects }: FakeApiServer, names: RecordedNames): void {
  const { namespace } = names;
  const { labels = {}, annotations = {} } = recordedNode.metadata ?? {};
  objects.put<Node>({ apiVersion: 'v1', kind: 'Node', metadata: { name: names.node, labels, annotations } });
  objects.put<ApiObject>({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const lookup = goldenLookup(names.serviceIp);
  const configMaps: Readonly<Record<string, ConfigMap>> = {
    cm: { ...lookup.configMap('', 'cm'), binaryData: { bin: Buffer.from([0, 1, 2]).toString('base64') } },
    'kube-root-ca.crt': { data: { 'ca.crt': 'an authority' } },
  };
  for (const [name, configMap] of Object.entries(configMaps)) {
    objects.put<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, ...configMap });
  }
  const secret = lookup.secret('', 'sec');
  objects.put<Secret>({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'sec', namespace }, ...secret });
  for (const service of inRealWords(lookup.services(), names)) {
    objects.put<Service>({ apiVersion: 'v1', kind: 'Service', ...service });
  }
}

/** The recorded pod as it was in the cluster when the scheduler had bound it. */
export function boundPod(record: GoldenRecord, names: RecordedNames): Pod {
  const { metadata: { name, namespace, labels, annotations = {} } = {}, spec } = podObject(goldenPod(record));
  // The agent itself notes where it has a pod from.
  const given = Object.entries(annotations).filter(([key]) => !key.startsWith('kubernetes.io/config.'));
  const metadata = { name, namespace, labels, annotations: Object.fromEntries(given) };
  return inRealWords({ apiVersion: 'v1', kind: 'Pod', metadata, spec } as Pod, names);
}
