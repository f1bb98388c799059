import type { Pod } from '../../gen/kubernetes/types.ts';
import { json, type Route } from '../route.ts';

/** `/pods`: every pod the sources name, with the status the agent sees. */
export function podsRoute(pods: () => readonly Pod[]): Route {
  return {
    path: '/pods',
    methods: ['GET', 'HEAD'],
    listeners: ['readOnly'],
    handle: async () => json({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items: pods() }),
  };
}
