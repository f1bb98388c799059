import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundedService, serviceEnvironment, type ServiceObject } from './service-environment.ts';

const service = (name: string, namespace: string, clusterIP: string, ports = [{ port: 80 }]): ServiceObject => ({
  metadata: { name, namespace },
  spec: { clusterIP, ports },
});
const master = service('kubernetes', 'default', '10.0.0.1');

test('variables of a service', () => {
  const spec = {
    clusterIP: '10.0.0.7',
    ports: [
      { name: 'web-ui', port: 80, protocol: 'TCP' },
      { port: 53, protocol: 'UDP' },
    ],
  };
  const found = serviceEnvironment([{ metadata: { name: 'my-app', namespace: 'n' }, spec }], 'n', true);
  assert.deepEqual(Object.fromEntries(found), {
    MY_APP_SERVICE_HOST: '10.0.0.7',
    MY_APP_SERVICE_PORT: '80',
    MY_APP_SERVICE_PORT_WEB_UI: '80',
    MY_APP_PORT: 'tcp://10.0.0.7:80',
    MY_APP_PORT_80_TCP: 'tcp://10.0.0.7:80',
    MY_APP_PORT_80_TCP_PROTO: 'tcp',
    MY_APP_PORT_80_TCP_PORT: '80',
    MY_APP_PORT_80_TCP_ADDR: '10.0.0.7',
    MY_APP_PORT_53_UDP: 'udp://10.0.0.7:53',
    MY_APP_PORT_53_UDP_PROTO: 'udp',
    MY_APP_PORT_53_UDP_PORT: '53',
    MY_APP_PORT_53_UDP_ADDR: '10.0.0.7',
  });
});

test('which services are seen', () => {
  const hosts = (services: readonly ServiceObject[], links: boolean) =>
    [...serviceEnvironment(services, 'n', links)].filter(([key]) => key.endsWith('_SERVICE_HOST'));
  const all = [
    service('b', 'n', '1'),
    service('a', 'n', '2'),
    service('c', 'other', '3'),
    service('h', 'n', 'None'),
    master,
  ];
  assert.deepEqual(hosts(all, true), [
    ['A_SERVICE_HOST', '2'],
    ['B_SERVICE_HOST', '1'],
    ['KUBERNETES_SERVICE_HOST', '10.0.0.1'],
  ]);
  assert.deepEqual(hosts(all, false), [['KUBERNETES_SERVICE_HOST', '10.0.0.1']]);
});

test("a namespace's own service hides the master of the same name, in either order", () => {
  const own = service('kubernetes', 'n', '9');
  for (const services of [
    [own, master],
    [master, own],
  ]) {
    assert.equal(serviceEnvironment(services, 'n', true).get('KUBERNETES_SERVICE_HOST'), '9');
  }
});

test('an IPv6 address is bracketed in an endpoint', () => {
  const found = serviceEnvironment([service('s', 'n', 'fd00::1')], 'n', true);
  assert.equal(found.get('S_PORT'), 'tcp://[fd00::1]:80');
  assert.equal(found.get('S_SERVICE_HOST'), 'fd00::1');
});

test('of a service only what its variables are made of is kept', () => {
  const metadata = { name: 's', namespace: 'n', uid: 'u', resourceVersion: '1' };
  const spec = { clusterIP: '10.0.0.1', ports: [{ port: 80 }] };
  const whole = {
    metadata: { ...metadata, annotations: { long: 'x' }, labels: { a: 'b' } },
    spec: { ...spec, selector: { a: 'b' } },
    status: { loadBalancer: {} },
  };
  assert.deepEqual(boundedService(whole), { metadata, spec });
});
