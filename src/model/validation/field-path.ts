/** The way from the root of an object to a field: names and list positions. */
export type FieldPath = readonly (string | number)[];

/** Fields that hold maps with keys of the user's own; those keys are written in brackets. */
const mapFields: ReadonlySet<string> = new Set([
  'annotations',
  'binaryData',
  'data',
  'labels',
  'limits',
  'matchLabels',
  'nodeSelector',
  'options',
  'overhead',
  'requests',
  'stringData',
  'volumeAttributes',
]);

/** No key of an object may be longer; a longer one comes from an untrusted manifest, and its message goes into the log. */
const maxStepLength = 253;

/** `spec.containers[0].resources.limits[cpu]`, as Kubernetes writes paths in its messages. */
export function formatPath(path: FieldPath): string {
  let text = '';
  for (const [index, given] of path.entries()) {
    const parent = path[index - 1];
    const step =
      typeof given === 'string' && given.length > maxStepLength ? `${given.slice(0, maxStepLength)}…` : given;
    if (typeof step === 'number' || (typeof parent === 'string' && mapFields.has(parent))) text += `[${step}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}
