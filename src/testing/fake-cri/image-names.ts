/** An image name in full: `busybox` is `docker.io/library/busybox:latest`. Ids and digests stay what they are. */
export function fullImageName(name: string): string {
  if (name === '' || name.startsWith('sha256:')) return name;
  const [first = '', ...rest] = name.split('/');
  const hasDomain = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  const path = hasDomain ? name : `docker.io/${rest.length === 0 ? 'library/' : ''}${name}`;
  const last = path.slice(path.lastIndexOf('/') + 1);
  return last.includes('@') || last.includes(':') ? path : `${path}:latest`;
}

/** The repository of a full name, without tag and digest. */
export function repositoryOf(fullName: string): string {
  const plain = fullName.replace(/@.*$/, '');
  const colon = plain.lastIndexOf(':');
  return colon > plain.lastIndexOf('/') ? plain.slice(0, colon) : plain;
}
