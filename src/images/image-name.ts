/**
 * An image name as people write it, checked and completed: `busybox` means `busybox:latest`. The grammar is that of
 * distribution references: host and path of lower-case parts, an optional tag, an optional digest.
 */
export type ImageName = { readonly name: string } | { readonly invalid: string };

const host = String.raw`(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[0-9a-fA-F:]+\])(?::[0-9]+)?`;
const part = String.raw`[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*`;
const tag = String.raw`[\w][\w.-]{0,127}`;
const digest = String.raw`[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}`;
const reference = new RegExp(`^(?:${host}/)?${part}(?:/${part})*(?<tag>:${tag})?(?<digest>@${digest})?$`);
const bareId = /^[0-9a-f]{64}$/;

/** The name with its default tag, or what is wrong with it. */
export function completeImageName(image: string): ImageName {
  const match = reference.exec(image);
  if (match === null || bareId.test(image)) {
    const why =
      image.toLowerCase() !== image && reference.test(image.toLowerCase())
        ? 'repository name must be lowercase'
        : 'invalid reference format';
    return { invalid: `couldn't parse image name "${image}": ${why}` };
  }
  const complete = match.groups?.['tag'] !== undefined || match.groups?.['digest'] !== undefined;
  return { name: complete ? image : `${image}:latest` };
}
