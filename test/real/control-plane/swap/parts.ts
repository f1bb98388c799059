import { idle } from '../../../support/real-pods.ts';

export type Fields = Readonly<Record<string, unknown>>;

export interface SwapWorld {
  readonly namespace: string;
  readonly image: string;
  /** A folder of the machine that pods of this namespace share with it. */
  readonly hostFolder: string;
}

/** Where a container notes each time that a probe asked it. */
export const markFile = '/tmp/probed';
/** Containers that do so, by the names of their pods or their own. */
export const isMarking = (owner: string): boolean =>
  /\/(web|worker|probe-exec|probe-http|host-network|static)|\/beside$/.test(owner);
const mark = `echo x >> ${markFile}`;
export const marked = ['sh', '-c', mark];
/** Serves a page that leaves a mark each time it is asked for, and ends at once when it is asked to. */
export const serve = (port: number): string => {
  const page = `#!/bin/sh\n${mark}\nprintf "Content-type: text/plain\\n\\nok"\n`;
  const make = `mkdir -p /tmp/www/cgi-bin; printf '%s' '${page}' > /tmp/www/cgi-bin/page; chmod +x /tmp/www/cgi-bin/page`;
  return `${make}; httpd -p ${port} -h /tmp/www; ${idle}`;
};
export const pagePath = '/cgi-bin/page';
export const http = (port: number | string): Fields => ({ httpGet: { path: pagePath, port } });
/** Soon enough for a test, and patient with a machine that is busy. */
export const often = { periodSeconds: 2, timeoutSeconds: 10, failureThreshold: 10 };
export const mount = (name: string, more: Fields = {}): Fields => ({ name, mountPath: `/v/${name}`, ...more });
