/** Verification of webhooks, with Web Crypto. */
import { WebhookVerificationError } from './errors.js';
import type { components } from './generated/schema.js';

export const TOLERANCE_SECONDS = 300;

/** The body of a delivery: one variant for each `type`. */
export type WebhookEnvelope = components['schemas']['WebhookDeliveryEnvelope'];

/** A verified delivery. `id` is equal for all attempts at it: store it to ignore repeated deliveries. */
export type WebhookEvent = WebhookEnvelope & { readonly id: string; readonly timestamp: number };

/** `Headers`, or an object such as `request.headers` of Node.js. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies the signature of a delivery in constant time and returns its event.
 *
 * `body` is the body as received, `secret` the `signing_secret` of the registration, `now` the time in Unix seconds
 * (default: the clock). Throws `WebhookVerificationError` if the signature does not match, or if the timestamp differs
 * from the clock by more than 300 s. The signature does not cover the id.
 */
export async function verifyWebhook(
  headers: WebhookHeaders,
  body: Uint8Array | ArrayBuffer | string,
  secret: string,
  now: number = Date.now() / 1000,
): Promise<WebhookEvent> {
  const timestamp = readHeader(headers, 'x-webhook-timestamp');
  if (!/^[0-9]{1,12}$/.test(timestamp)) throw new WebhookVerificationError('no valid X-Webhook-Timestamp');
  const encoder = new TextEncoder();
  const bytes = typeof body === 'string' ? encoder.encode(body) : new Uint8Array(body);
  const begin = encoder.encode(`${timestamp}.`);
  const signed = new Uint8Array(begin.length + bytes.length);
  signed.set(begin);
  signed.set(bytes, begin.length);
  const { subtle } = await webCrypto();
  const key = await subtle.importKey('raw', encoder.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  const signature = readSignature(readHeader(headers, 'x-webhook-signature'));
  if (!(await subtle.verify('HMAC', key, signature, signed))) {
    throw new WebhookVerificationError('the signature does not match');
  }
  if (Math.abs(now - Number(timestamp)) > TOLERANCE_SECONDS) {
    throw new WebhookVerificationError('the timestamp is too old or in the future');
  }
  return { ...readEnvelope(bytes), id: readHeader(headers, 'x-webhook-id'), timestamp: Number(timestamp) };
}

function readHeader(headers: WebhookHeaders, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? '';
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : '';
}

/** The bytes of `v1=<hexadecimal>`. Another text gives no bytes, which match no signature. */
function readSignature(text: string): Uint8Array<ArrayBuffer> {
  const digits = /^v1=([0-9a-f]{64})$/.exec(text)?.[1] ?? '';
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function readEnvelope(bytes: Uint8Array): WebhookEnvelope {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (typeof value === 'object' && value !== null && 'type' in value && 'data' in value) {
      return value as WebhookEnvelope;
    }
  } catch {
    // Reported below.
  }
  throw new WebhookVerificationError('the body is not an event');
}

/** Web Crypto; Node.js 18 has no global for it. */
async function webCrypto(): Promise<Pick<Crypto, 'subtle'>> {
  if (globalThis.crypto?.subtle) return globalThis.crypto;
  const node = 'node:crypto';
  const { webcrypto } = (await import(node)) as { webcrypto: Crypto };
  return webcrypto;
}
