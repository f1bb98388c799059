import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ContainerStatusResponse,
  ImageStatusResponse,
  PodSandboxStatusResponse,
  VersionResponse,
} from '../gen/cri/api.ts';
import { containerStatusFlaw, imageStatusFlaw, sandboxStatusFlaw, versionFlaw } from './answers.ts';

const sandbox = { id: 'i', metadata: { name: 'n', namespace: 's', uid: 'u' }, createdAt: 1n };
const container = { id: 'i', metadata: { name: 'n' }, createdAt: 1n, image: { image: 'x' }, imageRef: 'r' };
const version = { version: '1', runtimeName: 'n', runtimeVersion: '2', runtimeApiVersion: 'v1' };

test('whole answers have no flaw', () => {
  assert.equal(sandboxStatusFlaw(PodSandboxStatusResponse.fromPartial({ status: sandbox })), undefined);
  assert.equal(containerStatusFlaw(ContainerStatusResponse.fromPartial({ status: container })), undefined);
  assert.equal(versionFlaw(VersionResponse.fromPartial(version)), undefined);
  assert.equal(imageStatusFlaw(ImageStatusResponse.fromPartial({})), undefined);
  assert.equal(imageStatusFlaw(ImageStatusResponse.fromPartial({ image: { id: 'i', size: 1n } })), undefined);
});

test('each missing part is named', () => {
  const ofSandbox = (status: object | undefined) =>
    sandboxStatusFlaw(PodSandboxStatusResponse.fromPartial(status === undefined ? {} : { status }));
  assert.equal(ofSandbox(undefined), 'status is not set');
  assert.equal(ofSandbox({ ...sandbox, id: '' }), 'status.id is not set');
  assert.equal(ofSandbox({ ...sandbox, metadata: undefined }), 'status.metadata is not set');
  assert.equal(ofSandbox({ ...sandbox, metadata: { name: 'n' } }), 'name, namespace or uid is not set');
  assert.equal(ofSandbox({ ...sandbox, createdAt: 0n }), 'status.created_at is not set');

  const ofContainer = (status: object | undefined) =>
    containerStatusFlaw(ContainerStatusResponse.fromPartial(status === undefined ? {} : { status }));
  assert.equal(ofContainer(undefined), 'status is not set');
  assert.equal(ofContainer({ ...container, id: '' }), 'status.id is not set');
  assert.equal(ofContainer({ ...container, metadata: { name: '' } }), 'status.metadata.name is not set');
  assert.equal(ofContainer({ ...container, createdAt: 0n }), 'status.created_at is not set');
  assert.equal(ofContainer({ ...container, image: { image: '' } }), 'status.image or status.image_ref is not set');
  assert.equal(ofContainer({ ...container, imageRef: '' }), 'status.image or status.image_ref is not set');

  assert.equal(versionFlaw(VersionResponse.fromPartial({ ...version, runtimeName: '' })), 'runtime_name is not set');
  assert.equal(imageStatusFlaw(ImageStatusResponse.fromPartial({ image: { id: 'i' } })), 'image.size is not set');
});
