/** Transport: tokens, conditional GET, errors. All requests of a client are sent through it. */
import { readError } from './errors.js';

/** Sends a request, as `fetch` does. */
export type Send = (request: Request) => Promise<Response>;

/** Returns a valid token, and another one than `rejected`. */
export type GetToken = (rejected?: string) => Promise<string>;

// A token is renewed this long before it expires, or after four fifths of its lifetime if that is later.
const RENEWAL_MARGIN_SECONDS = 60;
// The headers of a stored answer that do not apply to its decoded body.
const ENCODING_HEADERS = ['content-encoding', 'content-length', 'transfer-encoding'];
const CONDITIONS = ['if-none-match', 'if-modified-since', 'range'];

/** Requests tokens with a grant: one request at a time, and a new token before the current one expires. */
export function tokenSource(tokenUrl: string, grant: Readonly<Record<string, unknown>>, send: Send): GetToken {
  let token: string | undefined;
  let renewAt = 0;
  let pending: Promise<string> | undefined;

  async function requestToken(): Promise<string> {
    const begin = Date.now();
    const headers = { 'Content-Type': 'application/json' };
    const request = new Request(tokenUrl, { method: 'POST', headers, body: JSON.stringify(grant) });
    const response = await send(request);
    if (!response.ok) throw await readError(request, response);
    const answer = (await response.json()) as { access_token: string; expires_in: number };
    const lifetime = answer.expires_in;
    renewAt = begin + 1000 * Math.max(lifetime - RENEWAL_MARGIN_SECONDS, 0.8 * lifetime);
    token = answer.access_token;
    return token;
  }

  return async (rejected) => {
    if (token !== undefined && token !== rejected && Date.now() < renewAt) return token;
    pending ??= requestToken().finally(() => {
      pending = undefined;
    });
    return pending;
  };
}

interface CachedResponse {
  readonly etag: string;
  readonly headers: Headers;
  readonly body: ArrayBuffer;
}

/** Answers with an `ETag`, by address, language and preference. The least recently used ones are removed beyond `maxBytes`. */
export class ResponseCache {
  readonly #entries = new Map<string, CachedResponse>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The stored answer to this request; undefined if it is not a GET or has a condition of its own. */
  get(request: Request): CachedResponse | undefined {
    if (request.method !== 'GET' || CONDITIONS.some((name) => request.headers.has(name))) return undefined;
    const entry = this.#entries.get(cacheKey(request));
    if (entry) {
      this.#entries.delete(cacheKey(request));
      this.#entries.set(cacheKey(request), entry);
    }
    return entry;
  }

  /** Stores the answer if it has an `ETag`. An answer longer than an eighth of the cache is not stored. */
  async insert(request: Request, response: Response): Promise<void> {
    const etag = response.headers.get('ETag');
    if (request.method !== 'GET' || response.status !== 200 || !etag || this.#maxBytes === 0) return;
    const body = await response.clone().arrayBuffer();
    if (body.byteLength > this.#maxBytes / 8) return;
    const headers = new Headers(response.headers);
    for (const name of ENCODING_HEADERS) headers.delete(name);
    this.#remove(cacheKey(request));
    this.#entries.set(cacheKey(request), { etag, headers, body });
    this.#bytes += body.byteLength;
    for (const key of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#remove(key);
    }
  }

  #remove(key: string): void {
    this.#bytes -= this.#entries.get(key)?.body.byteLength ?? 0;
    this.#entries.delete(key);
  }
}

function cacheKey(request: Request): string {
  return ['Accept-Language', 'Prefer'].map((name) => request.headers.get(name) ?? '').concat(request.url).join('\n');
}

/**
 * Adds a valid token to each request to `origin`, revalidates stored answers, and throws `ApiError` for every answer that
 * is not a success. After a 401 the token is renewed once.
 */
export function createTransport(origin: string, getToken: GetToken, cache: ResponseCache, send: Send): Send {
  async function sendAuthorized(request: Request): Promise<Response> {
    if (request.headers.has('Authorization') || new URL(request.url).origin !== origin) return send(request);
    const retry = request.clone();
    const token = await getToken();
    request.headers.set('Authorization', `Bearer ${token}`);
    const response = await send(request);
    if (response.status !== 401) return response;
    await response.body?.cancel();
    retry.headers.set('Authorization', `Bearer ${await getToken(token)}`);
    return send(retry);
  }

  return async (request) => {
    const cached = cache.get(request);
    if (cached) request.headers.set('If-None-Match', cached.etag);
    const response = await sendAuthorized(request);
    if (cached && response.status === 304) {
      const headers = new Headers(cached.headers);
      headers.set('Cache-Status', 'civitas-client; hit');
      return new Response(cached.body.slice(0), { status: 200, headers });
    }
    // 301 and 308 are a secondary host; a browser shows it as an opaque answer without status.
    const isRedirect = [301, 308].includes(response.status) || response.type === 'opaqueredirect';
    if (response.status >= 400 || isRedirect) throw await readError(request, response);
    await cache.insert(request, response);
    return response;
  };
}
