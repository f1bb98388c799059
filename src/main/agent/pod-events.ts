import type { EventRecorder } from '../../apiserver/events/index.ts';
import type { Log } from '../../base/log.ts';
import { podFields } from '../../model/pod-log.ts';
import type { NodeEvents } from '../../node/index.ts';
import type { PodEvents } from '../../pods/runtime/index.ts';

/** Without an API server events are written to the log. */
function loggedEvents(log: Log): PodEvents {
  return {
    record: ({ namespace, name, uid }, { type, reason, message, fieldPath }) =>
      log.info('Event occurred', {
        object: { namespace, name },
        ...podFields({ namespace, name, uid }),
        ...(fieldPath !== undefined && { fieldPath }),
        kind: 'Pod',
        apiVersion: 'v1',
        type,
        reason,
        message,
      }),
  };
}

/** Events about pods: in the log, for operators on the node, and at the API server where there is one. */
export function podEvents(log: Log, recorder: Pick<EventRecorder, 'record'> | undefined): PodEvents {
  const logged = loggedEvents(log);
  return recorder === undefined ? logged : recordedEvents(logged, recorder);
}

function recordedEvents(logged: PodEvents, recorder: Pick<EventRecorder, 'record'>): PodEvents {
  return {
    record(pod, event) {
      logged.record(pod, event);
      const { namespace, name, uid, metadata } = pod;
      const { fieldPath, ...what } = event;
      recorder.record({
        ...what,
        about: {
          kind: 'Pod',
          apiVersion: 'v1',
          namespace,
          name,
          uid,
          ...(metadata.resourceVersion !== undefined && { resourceVersion: metadata.resourceVersion }),
          ...(fieldPath !== undefined && { fieldPath }),
        },
      });
    },
  };
}

/** Events about the node. Their subject's uid is the node's name, because clients select a node's events by it. */
export function nodeEvents(
  log: Log,
  nodeName: string,
  recorder: Pick<EventRecorder, 'record'> | undefined,
): NodeEvents {
  return {
    record({ type, reason, message }) {
      log.info('Event occurred', { object: nodeName, kind: 'Node', apiVersion: 'v1', type, reason, message });
      recorder?.record({ type, reason, message, about: { kind: 'Node', name: nodeName, uid: nodeName } });
    },
  };
}
