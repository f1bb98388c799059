import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { credentials, Server, ServerCredentials, type handleUnaryCall } from '@grpc/grpc-js';
import {
  TraceServiceService,
  type ExportTraceServiceRequest,
  type ExportTraceServiceResponse,
  type Span,
} from '../../src/gen/opentelemetry/trace.ts';
import { PodResourcesListerClient, type ListPodResourcesResponse } from '../../src/gen/podresources/v1.ts';
import { RealNode } from '../support/real-node.ts';
import { until } from '../support/real-wait.ts';

let node: RealNode;
const collector = new Server();
const spans: Span[] = [];

before(async () => {
  const take: handleUnaryCall<ExportTraceServiceRequest, ExportTraceServiceResponse> = (call, callback) => {
    for (const { scopeSpans } of call.request.resourceSpans) spans.push(...scopeSpans.flatMap((scope) => scope.spans));
    callback(null, { partialSuccess: undefined });
  };
  collector.addService(TraceServiceService, { export: take });
  const port = await new Promise<number>((resolve, reject) => {
    collector.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  node = await RealNode.start('traces');
  const config = JSON.parse(readFileSync(node.names.kubeletConfig, 'utf8')) as object;
  const tracing = { endpoint: `127.0.0.1:${port}`, samplingRatePerMillion: 1_000_000 };
  writeFileSync(node.names.kubeletConfig, JSON.stringify({ ...config, tracing }));
  await node.workingAgent();
  const main = { name: 'main', image: node.image, command: ['sleep', '600'] };
  node.put('traced', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'traced' },
    spec: { terminationGracePeriodSeconds: 1, containers: [main] },
  });
  await node.readyPod('traced');
});
after(async () => {
  collector.forceShutdown();
  await node?.destroy();
});

test('a pod that starts is a trace: its sync, with the calls of the runtime inside', async () => {
  const named = (name: string): Span | undefined => spans.find((span) => span.name === name);
  const start = await until('the spans have come', async () => named('runtime.v1.RuntimeService/StartContainer'), {
    state: async () => spans.map(({ name }) => name).slice(-20),
  });
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  const sync = spans.find(({ spanId }) => hex(spanId) === hex(start.parentSpanId));
  assert.equal(sync?.name, 'syncPod');
  assert.equal(hex(sync?.traceId ?? new Uint8Array()), hex(start.traceId));
  const pod = sync?.attributes.find(({ key }) => key === 'k8s.pod')?.value?.stringValue;
  assert.match(pod ?? '', /^default\/traced-/);
  assert.ok(start.endTimeUnixNano > start.startTimeUnixNano);
});

test('agents on the node are told which containers there are', async () => {
  const socket = join(node.names.kubeletRoot, 'pod-resources', 'kubelet.sock');
  const client = new PodResourcesListerClient(`unix://${socket}`, credentials.createInsecure());
  const { podResources } = await new Promise<ListPodResourcesResponse>((resolve, reject) => {
    client.list({}, (error, answer) => (error ? reject(error) : resolve(answer)));
  });
  client.close();
  assert.deepEqual(
    podResources.map(({ namespace, containers }) => [namespace, containers.map(({ name }) => name)]),
    [['default', ['main']]],
  );
});
