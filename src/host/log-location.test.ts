import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logLocationProblem } from './log-location.ts';

const id = 'a'.repeat(64);
const path = '/var/log/pods/ns_pod_uid/main/0.log';

// [what is meant, the folder of logs in truth, the file in truth, the id, whether it is read]
const cases: readonly (readonly [string, string, string, string, boolean])[] = [
  ['the file itself', '/var/log/pods', path, id, true],
  ['another file of the container', '/var/log/pods', '/var/log/pods/ns_pod_uid/main/1.log', id, true],
  ['logs on another disk', '/data/logs', '/data/logs/ns_pod_uid/main/0.log', id, true],
  ["docker's file of the container", '/var/log/pods', `/data/docker/containers/${id}/${id}-json.log`, id, true],
  [
    "docker's file of another",
    '/var/log/pods',
    `/var/lib/docker/containers/${id}/${id}-json.log`,
    'b'.repeat(64),
    false,
  ],
  ["docker's file and no id", '/var/log/pods', `/var/lib/docker/containers/${id}/${id}-json.log`, '', false],
  ['the log of another pod', '/var/log/pods', '/var/log/pods/ns_other_uid/main/0.log', id, false],
  ['the log of another container', '/var/log/pods', '/var/log/pods/ns_pod_uid/side/0.log', id, false],
  ['a secret', '/var/log/pods', '/etc/shadow', id, false],
  ['a name like docker has', '/var/log/pods', `/etc/containers/${id}/other-json.log`, id, false],
];

for (const [what, root, real, containerId, isRead] of cases) {
  test(`${what} is ${isRead ? '' : 'not '}read`, () => {
    const problem = logLocationProblem({ path, root, real, containerId });
    assert.equal(problem, isRead ? undefined : `${path} leads out of the container's folder of logs`);
  });
}
