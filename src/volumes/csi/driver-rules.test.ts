import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import { NodeServiceCapability_RPC_Type, VolumeCapability_AccessMode_Mode } from '../../gen/csi/v1.ts';
import { accessModeOf, accessModes, capabilitiesOf, type DriverCapability } from './driver-capabilities.ts';
import { isUncertain } from './driver-errors.ts';
import { driverNameProblem, endpointProblem, highestVersion } from './driver-version.ts';

test('the highest version 1.x counts', () => {
  const table: readonly (readonly [readonly string[], string | undefined])[] = [
    [['1.0.0'], '1.0.0'],
    [['1.0.0', '1.10.0', '1.9.2'], '1.10.0'],
    [['v1.2.0', '1.2.1-rc1'], '1.2.1-rc1'],
    [['0.3.0', '1.1', '2.0.0'], '1.1'],
    [['0.3.0'], undefined],
    [['2.0.0', '10.0.0'], undefined],
    [['1', 'one', ''], undefined],
    [[], undefined],
  ];
  for (const [versions, expected] of table) assert.equal(highestVersion(versions)?.text, expected, versions.join());
});

test('names become folders and keys, endpoints are sockets', () => {
  for (const name of ['hostpath.csi.k8s.io', 'a', 'Ebs.CSI.aws.com']) assert.equal(driverNameProblem(name), undefined);
  for (const name of ['', '..', 'a/b', '../../etc', 'a b', '-a', 'a_b', 'x'.repeat(64)]) {
    assert.notEqual(driverNameProblem(name), undefined, name);
  }
  assert.equal(endpointProblem('/var/lib/kubelet/plugins/x/csi.sock'), undefined);
  for (const endpoint of ['', 'csi.sock', 'tcp://1.2.3.4:5']) assert.notEqual(endpointProblem(endpoint), undefined);
});

test('codes after which the outcome of a call is uncertain', () => {
  const uncertain = ['Canceled', 'DeadlineExceeded', 'Unavailable', 'ResourceExhausted', 'Aborted'];
  const final = ['InvalidArgument', 'NotFound', 'AlreadyExists', 'FailedPrecondition', 'Internal', 'Unknown'];
  for (const code of uncertain) assert.ok(isUncertain(new TubeletError('internal', '', { code })), code);
  for (const code of final) assert.ok(!isUncertain(new TubeletError('internal', '', { code })), code);
  assert.ok(isUncertain(new TubeletError('unavailable', 'no code: not the word of a driver')));
  assert.ok(isUncertain(new Error('unknown')));
});

test('the repeated numbers are those of the protocol', () => {
  assert.deepEqual(accessModes, VolumeCapability_AccessMode_Mode);
  const { UNKNOWN, ...known } = NodeServiceCapability_RPC_Type;
  for (const [name, type] of Object.entries(known)) {
    const capabilities = [{ rpc: { type } }, { rpc: { type: UNKNOWN } }, {}];
    assert.deepEqual([...capabilitiesOf({ capabilities })], [name]);
  }
});

test('access modes', () => {
  const plain = new Set<DriverCapability>();
  const apart = new Set<DriverCapability>(['SINGLE_NODE_MULTI_WRITER']);
  const table: readonly (readonly [string, number, number])[] = [
    ['ReadWriteOnce', accessModes.SINGLE_NODE_WRITER, accessModes.SINGLE_NODE_MULTI_WRITER],
    ['ReadWriteOncePod', accessModes.SINGLE_NODE_WRITER, accessModes.SINGLE_NODE_SINGLE_WRITER],
    ['ReadOnlyMany', accessModes.MULTI_NODE_READER_ONLY, accessModes.MULTI_NODE_READER_ONLY],
    ['ReadWriteMany', accessModes.MULTI_NODE_MULTI_WRITER, accessModes.MULTI_NODE_MULTI_WRITER],
    ['else', accessModes.UNKNOWN, accessModes.UNKNOWN],
  ];
  for (const [mode, one, other] of table) {
    assert.deepEqual([accessModeOf(mode, plain), accessModeOf(mode, apart)], [one, other], mode);
  }
});
