import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JournalKeeper } from './journal.ts';

/** Marks the pod whose readiness `up` waits for. */
export const sampleLabel = 'tubelet/sample';

/** A pod that shows the main things: an init container, a web server, a sidecar and a folder they share. */
export function samplePodManifest(image: string): string {
  return `# The sample pod of \`tubelet up\`. Edit it and watch the pod follow; delete it and the pod goes.
apiVersion: v1
kind: Pod
metadata:
  name: hello
  namespace: default
  labels:
    app: hello
    ${sampleLabel}: "true"
spec:
  terminationGracePeriodSeconds: 3
  volumes:
    - name: www
      emptyDir: {}
  initContainers:
    # Runs to its end before the others start.
    - name: write-page
      image: ${image}
      command:
        - sh
        - -c
        - echo "<h1>Hello from tubelet</h1><p><a href=dates.txt>dates</a></p>" > /www/index.html
      volumeMounts:
        - name: www
          mountPath: /www
    # A sidecar: starts before the web server, works beside it on the same folder, and ends after it.
    - name: clock
      image: ${image}
      restartPolicy: Always
      command:
        - sh
        - -c
        - trap "exit 0" TERM; while true; do date >> /www/dates.txt; sleep 10 & wait $!; done
      volumeMounts:
        - name: www
          mountPath: /www
  containers:
    - name: web
      image: ${image}
      command: [httpd, -f, -p, "8080", -h, /www]
      ports:
        - name: http
          containerPort: 8080
      volumeMounts:
        - name: www
          mountPath: /www
`;
}

/**
 * Makes the manifests folder, and the sample when there is no manifest yet. Without an image there is no sample: the
 * images of an external runtime are unknown. Answers whether any manifest exists.
 */
export async function prepareManifests(
  folder: string,
  image: string | undefined,
  keeper: JournalKeeper,
): Promise<{ readonly any: boolean; readonly sample?: string }> {
  const made = keeper.journal.manifests?.made === true || !existsSync(folder);
  await keeper.update((journal) => ({ ...journal, manifests: { path: folder, made } }));
  await mkdir(folder, { recursive: true });
  const present = (await readdir(folder)).some((name) => /^[^.].*\.(?:ya?ml|json)$/.test(name));
  if (present || image === undefined) return { any: present };
  const text = samplePodManifest(image);
  const path = join(folder, 'hello.yaml');
  const sha256 = createHash('sha256').update(text).digest('hex');
  await keeper.update((journal) => ({ ...journal, sample: { path, sha256 } }));
  await writeFile(path, text);
  return { any: true, sample: path };
}
