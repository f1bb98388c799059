import { kindOf, messageOf, TubeletError } from '../../base/errors.ts';

/** Describes a network failure on the way to a server, with a hint to the operator where there is one. */
export function networkError(server: string, error: unknown): TubeletError {
  if (error instanceof TubeletError) return error;
  const advice = adviceFor((error as { readonly code?: unknown } | null)?.code);
  const text = `${server}: ${messageOf(error)}${advice === undefined ? '' : `; ${advice}`}`;
  return new TubeletError('unavailable', text, { cause: error, remoteMessage: messageOf(error) });
}

function adviceFor(code: unknown): string | undefined {
  switch (code) {
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_GET_ISSUER_CERT':
      return 'put the authority that signed the server certificate into certificate-authority of the kubeconfig';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return 'use a name of the certificate in server, or set tls-server-name in the kubeconfig';
    case 'CERT_HAS_EXPIRED':
      return 'the server certificate needs renewal, or the clock of this machine is wrong';
    case 'CERT_NOT_YET_VALID':
      return 'is the clock of this machine right?';
    case 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL':
    case 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL_RENEGOTIATION':
      return 'the server does not speak HTTP/2';
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return 'the server does not speak TLS there: is the port right?';
    default:
      return undefined;
  }
}

/** The reason of a cancellation: our own errors stay, any other reason becomes `cancelled`. */
export function abortError(signal: AbortSignal): TubeletError {
  const { reason } = signal;
  if (reason instanceof TubeletError) return reason;
  const kind = kindOf(reason) === 'timeout' ? 'timeout' : 'cancelled';
  return new TubeletError(kind, 'the request was given up', { cause: reason });
}

export function flatHeaders(
  headers: Readonly<Record<string, string | readonly string[] | number | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      if (value === undefined || name.startsWith(':')) return [];
      return [[name, typeof value === 'object' ? value.join(', ') : String(value)]];
    }),
  );
}
