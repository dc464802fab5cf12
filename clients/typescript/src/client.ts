/** The client: calls of all operations, jobs and pages. */
import createFetchClient, {
  type Client as FetchClient,
  type ClientPathsWithMethod,
  createQuerySerializer,
  type MaybeOptionalInit,
} from 'openapi-fetch';
import { CivitasError, JobFailed, JobTimeout, type Job, RateLimited, readRetryAfter, ServiceUnavailable } from './errors.js';
import type { paths } from './generated/schema.js';
import { createTransport, type GetToken, ResponseCache, type Send, tokenSource } from './transport.js';

const BASE_PATH = '/api/rest_full/v0.3';
const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 5000;

interface CommonOptions {
  /** The address of the organization: `https://city.example`. */
  baseUrl: string;
  /** Sends the requests; default: `globalThis.fetch`. */
  fetch?: Send;
  /** The size of the cache of conditional GET in bytes; default: 8 MiB; 0: no cache. */
  cacheBytes?: number;
}

interface ClientCredentials {
  clientId: string;
  clientSecret: string;
  /** A list, or a text with spaces. Default: `["public"]`. */
  scopes?: readonly string[] | string;
  /** The client acts for this user (impersonation), or signs the user in with `password`; absent: for itself. */
  username?: string;
  password?: string;
  /** Of impersonation: `{ register_on_missing: true }`. */
  meta?: Readonly<Record<string, unknown>>;
}

/** With the credentials of an API client, or with a function that returns tokens: a browser must not have a secret. */
export type ClientOptions = CommonOptions & (ClientCredentials | { getToken: GetToken });

type Method = 'get' | 'post' | 'put' | 'delete';
type PathOf<M extends Method> = ClientPathsWithMethod<FetchClient<paths>, M>;
type Content<R> = R extends { content: infer C } ? C[keyof C] : never;
type Result<O> = O extends { responses: infer R } ? Content<R[keyof R]> : never;

/** The body of a successful answer. */
export type Data<P extends PathOf<M>, M extends Method> = Result<paths[P][M]>;

type Arguments<I> = undefined extends I ? [init?: I] : [init: I];
type Call<M extends Method> = <P extends PathOf<M>>(
  path: P,
  ...init: Arguments<MaybeOptionalInit<paths[P], M>>
) => Promise<{ data: Data<P, M>; response: Response }>;

type ListAnswer<P extends ListPath> = { data: Data<P, 'get'>; response: Response };

interface AnyPage {
  data: readonly unknown[];
  meta: { has_more: boolean };
}

/** The paths of lists. */
export type ListPath = { [P in PathOf<'get'>]: Data<P, 'get'> extends AnyPage ? P : never }[PathOf<'get'>];

type Query<P extends ListPath> = NonNullable<paths[P]['get']['parameters']['query']>;
type FilterKey<N> = N extends `filter[${infer K}][]` ? K : N extends `filter[${infer K}]` ? K : never;

/** The filters of a list, each a field and a predicate: `{ title_cont: 'bench', id_in: [7, 8] }`. */
export type ListFilter<P extends ListPath> = { [N in keyof Query<P> as FilterKey<N>]: Query<P>[N] };

/** The query parameters of a list. Filters are those of `filter`, or parameters such as `'filter[title_cont]'`. */
export type ListQuery<P extends ListPath> = Partial<Query<P>> & { filter?: ListFilter<P> };

export interface WaitOptions {
  /** Default: 60,000 ms. */
  timeoutMs?: number;
}

/** A client of one organization. A call returns a success; every other answer is thrown as `ApiError`. */
export interface Client {
  GET: Call<'get'>;
  POST: Call<'post'>;
  PUT: Call<'put'>;
  DELETE: Call<'delete'>;
  /** Sends a request with a token, as `fetch` does. */
  fetch: Send;
  /** A valid token, for requests that another library sends. */
  getToken: GetToken;
  /**
   * Waits until a job has completed, and returns it. Its `data` is the answer of the synchronous endpoint. `job` is the
   * answer of an asynchronous endpoint, or the id of a job. Polls with increasing delays, or as `Retry-After` says.
   * Throws `JobFailed`, or `JobTimeout`.
   */
  wait(job: string | { readonly job_id: string }, options?: WaitOptions): Promise<Job>;
  /**
   * All pages of a list. `per_page` is 100 unless given. Each page has the parameters of the next one, in the header
   * `Link`, or else in `meta.next`. A list in random order has no end.
   */
  pages<P extends ListPath>(path: P, query?: ListQuery<P>): AsyncGenerator<Data<P, 'get'>, void, undefined>;
  /** All records of a list. */
  items<P extends ListPath>(path: P, query?: ListQuery<P>): AsyncGenerator<Data<P, 'get'>['data'][number], void, undefined>;
  /** The number of all records of a list. Sends `Prefer: count=exact`. */
  total<P extends ListPath>(path: P, query?: ListQuery<P>): Promise<number>;
}

export function createClient(options: ClientOptions): Client {
  const baseUrl = options.baseUrl.replace(/\/+$/, '').replace(BASE_PATH, '') + BASE_PATH;
  const send: Send = options.fetch ?? ((request) => globalThis.fetch(request));
  const getToken = 'getToken' in options ? options.getToken : tokenSource(`${baseUrl}/oauth/token`, grant(options), send);
  const cache = new ResponseCache(options.cacheBytes ?? 8 * 1024 * 1024);
  const transport = createTransport(new URL(baseUrl).origin, getToken, cache, send);
  const calls = createFetchClient<paths>({ baseUrl, fetch: transport, redirect: 'manual', querySerializer });
  const get = calls.GET as unknown as <P extends ListPath>(path: P, init: object) => Promise<ListAnswer<P>>;

  async function* pages<P extends ListPath>(path: P, query?: ListQuery<P>): AsyncGenerator<Data<P, 'get'>, void, undefined> {
    let init: object = { params: { query: { per_page: 100, ...query } } };
    for (;;) {
      const { data, response }: ListAnswer<P> = await get(path, init);
      yield data;
      const next = nextPage(response) ?? data.meta.next;
      if (!next) return;
      // The path stays the same: no address leads to another server.
      init = { querySerializer: () => new URL(next, baseUrl).search };
    }
  }

  async function* items<P extends ListPath>(
    path: P,
    query?: ListQuery<P>,
  ): AsyncGenerator<Data<P, 'get'>['data'][number], void, undefined> {
    for await (const page of pages(path, query)) yield* page.data;
  }

  async function total<P extends ListPath>(path: P, query?: ListQuery<P>): Promise<number> {
    const { response } = await get(path, { params: { query: { ...query, per_page: 1 } }, headers: { Prefer: 'count=exact' } });
    const value = response.headers.get('Total');
    if (value === null) throw new CivitasError('the answer has no total');
    return Number(value);
  }

  async function wait(job: string | { readonly job_id: string }, { timeoutMs = 60_000 }: WaitOptions = {}): Promise<Job> {
    const id = typeof job === 'string' ? job : job.job_id;
    const end = Date.now() + timeoutMs;
    for (let delay = FIRST_DELAY_MS; ; delay = Math.min(delay * 1.6, LONGEST_DELAY_MS)) {
      const [found, retryAfter] = await poll(id);
      if (found?.status === 'completed') return found;
      if (found?.status === 'failed') throw new JobFailed(found);
      const pause = retryAfter === undefined ? delay : Math.max(retryAfter * 1000, FIRST_DELAY_MS);
      if (Date.now() + pause > end) throw new JobTimeout(`job ${id} did not end within ${timeoutMs} ms`);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  /** The job, and the delay of `Retry-After` in seconds. */
  async function poll(id: string): Promise<[Job | undefined, number | undefined]> {
    try {
      const { data, response } = await calls.GET('/jobs/{id}', { params: { path: { id } } });
      return [data, readRetryAfter(response)];
    } catch (error) {
      if (error instanceof RateLimited || error instanceof ServiceUnavailable) return [undefined, error.retryAfter];
      throw error;
    }
  }

  const { GET, POST, PUT, DELETE } = calls;
  return { GET, POST, PUT, DELETE, fetch: transport, getToken, wait, pages, items, total } as unknown as Client;
}

const serializeTexts = createQuerySerializer();

/** Writes a query: times as ISO 8601, and the members of `filter` as parameters. */
function querySerializer({ filter, ...query }: Record<string, unknown>): string {
  const parameters = Object.entries(query);
  for (const [key, value] of Object.entries(filter ?? {})) {
    parameters.push([`filter[${key}]${Array.isArray(value) ? '[]' : ''}`, value]);
  }
  const asText = (value: unknown) => (value instanceof Date ? value.toISOString() : value);
  const texts = parameters.map(([name, value]) => [name, Array.isArray(value) ? value.map(asText) : asText(value)]);
  return serializeTexts(Object.fromEntries(texts));
}

/** The address of the next page: `rel="next"` of the header `Link` (RFC 8288). */
function nextPage(response: Response): string | undefined {
  const links = response.headers.get('Link') ?? '';
  return /<([^<>]*)>[^<]*?;\s*rel="?(?:[^"<]* )?next(?:[ ";,]|$)/.exec(links)?.[1];
}

function grant(credentials: ClientCredentials): Record<string, unknown> {
  const { clientId, clientSecret, scopes = ['public'], username, password, meta } = credentials;
  const client = { client_id: clientId, client_secret: clientSecret, scope: [scopes].flat().join(' ') };
  if (username === undefined) return { grant_type: 'client_credentials', ...client };
  const user = { grant_type: 'password', ...client, username };
  if (password !== undefined) return { ...user, auth_type: 'login', password };
  return { ...user, auth_type: 'impersonate', ...(meta && { meta }) };
}
