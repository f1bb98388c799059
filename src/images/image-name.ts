/**
 * An image name as people write it, checked and completed: `busybox` means `busybox:latest`. The grammar is that of
 * distribution references: host and path of lower-case parts, an optional tag, an optional digest.
 */
type ImageName = { readonly name: string } | { readonly invalid: string };

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
    return { invalid: `couldn't parse image name "${image}": ${whatIsWrong(image)}` };
  }
  const complete = match.groups?.['tag'] !== undefined || match.groups?.['digest'] !== undefined;
  return { name: complete ? image : `${image}:latest` };
}

function whatIsWrong(image: string): string {
  if (bareId.test(image)) return `invalid repository name (${image}), cannot specify 64-byte hexadecimal strings`;
  const repository = repositoryOf(image);
  if (repository === repository.toLowerCase()) return 'invalid reference format';
  return `invalid reference format: repository name (${repository}) must be lowercase`;
}

/** The path in its registry. */
function repositoryOf(image: string): string {
  const slash = image.indexOf('/');
  const first = image.slice(0, Math.max(0, slash));
  const path = isRegistry(first) ? image.slice(slash + 1) : image;
  const named = slash < 0 ? `library/${path}` : path;
  return named.replace(/:.*$/s, '');
}

/** The repository in full, without tag and digest: `busybox:1` is `docker.io/library/busybox`. Takes a valid name. */
export function fullRepository(image: string): string {
  const name = image.replace(/@.*$/s, '');
  const slash = name.indexOf('/');
  const first = name.slice(0, Math.max(0, slash));
  const hasRegistry = slash > 0 && isRegistry(first);
  const registry = !hasRegistry || first === 'index.docker.io' ? 'docker.io' : first;
  const path = (hasRegistry ? name.slice(slash + 1) : name).replace(/:[^/]*$/, '');
  return `${registry}/${registry === 'docker.io' && !path.includes('/') ? 'library/' : ''}${path}`;
}

/** What comes before the first slash is a registry only if it cannot be part of a path. */
function isRegistry(first: string): boolean {
  return /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase();
}
