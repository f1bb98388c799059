import { mask, maskAddress } from '../base/masked.ts';
import { toV1beta1, type JsonObject } from './print.ts';
import type { KubeletConfiguration } from './schema/fields.ts';

/** The configuration with secrets masked: headers for the pods' URL, and a password in it. */
export function maskedConfiguration(config: KubeletConfiguration): KubeletConfiguration {
  const headers = Object.entries(config.staticPodURLHeader);
  return {
    ...config,
    staticPodURL: maskAddress(config.staticPodURL),
    staticPodURLHeader: Object.fromEntries(headers.map(([name, values]) => [name, values.map(() => mask)])),
  };
}

/** What `/configz` serves under `kubeletconfig`. */
export function toConfigz(config: KubeletConfiguration): JsonObject {
  return toV1beta1(maskedConfiguration(config));
}
