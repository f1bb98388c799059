import { TubeletError } from '../base/errors.ts';

export interface CriEndpoint {
  /** The endpoint in its full spelling, `unix:///path`. */
  readonly url: string;
  readonly socketPath: string;
  /** What the operator should change, although it works. */
  readonly warning?: string;
}

/** The length that fits into `sun_path` with its closing zero. */
const maxSocketPath = 107;
const example = 'unix:///run/containerd/containerd.sock';

/** Parses a runtime or image endpoint; throws an `invalid` error that names the right form. */
export function parseEndpoint(text: string): CriEndpoint {
  if (text === '') throw invalid(text, `it is empty; give one like ${example}`);
  if (text.startsWith('/')) {
    const warning = `endpoint "${text}" has no scheme; write "unix://${text}"`;
    return { ...unixEndpoint(text, text), warning };
  }
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(text) ?? [];
  if (scheme === undefined || rest === undefined) {
    throw invalid(text, `it is neither an absolute path nor a URL; give one like ${example}`);
  }
  if (scheme.toLowerCase() !== 'unix') {
    throw invalid(text, `the scheme "${scheme}" is not supported, the runtime must listen on a unix socket`);
  }
  const path = rest.startsWith('//') ? rest.slice(2) : rest;
  if (!path.startsWith('/')) throw invalid(text, `the path must be absolute, as in ${example}`);
  return unixEndpoint(text, path);
}

function unixEndpoint(text: string, socketPath: string): CriEndpoint {
  const bytes = Buffer.byteLength(socketPath);
  if (bytes > maxSocketPath) {
    throw invalid(text, `its path has ${bytes} bytes, a unix socket can have ${maxSocketPath}`);
  }
  if (/[?#\0]/.test(socketPath)) throw invalid(text, 'the path must not contain "?", "#" or a zero byte');
  return { url: `unix://${socketPath}`, socketPath };
}

function invalid(text: string, why: string): TubeletError {
  return new TubeletError('invalid', `runtime endpoint "${text}": ${why}`);
}
