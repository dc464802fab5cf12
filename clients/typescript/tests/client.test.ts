/** Tests against a server. `clients/run` starts it and sets the variables CIVITAS_TEST_*. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, test } from 'node:test';
import {
  BadRequest,
  CivitasError,
  type Client,
  createClient,
  Forbidden,
  JobFailed,
  type ListFilter,
  type ListPath,
  type ListQuery,
  NotFound,
  Unauthorized,
  Unprocessable,
  verifyWebhook,
  WebhookVerificationError,
} from '@civitas/client';

const setting = (name: string) => process.env[`CIVITAS_TEST_${name}`] ?? assert.fail(`CIVITAS_TEST_${name} is not set`);
const baseUrl = setting('URL');
const clientSecret = setting('SECRET');
const component_id = Number(setting('COMPONENT'));
const proposalCount = Number(setting('PROPOSALS'));
const tokenLifetimeMs = 1000 * Number(setting('TOKEN_LIFETIME'));
const credentials = { baseUrl, clientId: 'tests-full', clientSecret, scopes: ['public', 'proposals', 'oauth', 'webhooks'] };
const meta = { register_on_missing: true, skip_confirmation_on_register: true };

const userName = () => `ts_${randomUUID().replaceAll('-', '').slice(0, 12)}`;
const newUser = () => createClient({ ...credentials, username: userName(), meta });

/** A client, and the list of method, path and status of each answer that it receives. */
function recording(options: object = {}): [Client, [string, string, number][]] {
  const answers: [string, string, number][] = [];
  const record = async (request: Request) => {
    const response = await fetch(request);
    answers.push([request.method, new URL(request.url).pathname, response.status]);
    return response;
  };
  return [createClient({ ...credentials, fetch: record, ...options }), answers];
}

async function firstProposal(client: Client = createClient(credentials)): Promise<number> {
  const { data } = await client.GET('/proposals', { params: { query: { component_id, per_page: 1 } } });
  return Number(data.data[0]?.id);
}

const isToken = ([, path]: [string, string, number]) => path.endsWith('/oauth/token');
const statusesOfGet = (answers: [string, string, number][]) =>
  answers.filter(([method]) => method === 'GET').map(([, , status]) => status);

describe('tokens', { concurrency: true }, () => {
  test('one token serves many requests', async () => {
    const [client, answers] = recording();
    await Promise.all([firstProposal(client), firstProposal(client), firstProposal(client)]);
    await firstProposal(client);
    assert.equal(answers.filter(isToken).length, 1);
  });

  test('a token is renewed before it expires', async () => {
    const [client, answers] = recording();
    const before = await client.getToken();
    await sleep(0.9 * tokenLifetimeMs);
    await firstProposal(client);
    assert.notEqual(await client.getToken(), before);
    assert.ok(answers.every(([, , status]) => status === 200));
  });

  test('a revoked token is renewed once', async () => {
    const [client, answers] = recording();
    const token = await client.getToken();
    await client.POST('/oauth/revoke', { body: { token, client_id: 'tests-full', client_secret: clientSecret } });
    answers.length = 0;
    assert.ok((await firstProposal(client)) > 0);
    assert.deepEqual(answers.map(([, , status]) => status), [401, 200, 200]);
  });

  test('a request with a body is sent again after a 401', async () => {
    const [client, answers] = recording({ username: userName(), meta });
    const token = await client.getToken();
    await client.POST('/oauth/revoke', { body: { token, client_id: 'tests-full', client_secret: clientSecret } });
    answers.length = 0;
    const { data } = await client.POST('/draft_proposals/sync', { body: { data: { component_id } } });
    assert.equal(data.data.type, 'draft_proposal');
    assert.deepEqual(answers.map(([, , status]) => status), [401, 200, 200]);
  });

  test('scopes may be a text', async () => {
    const client = createClient({ ...credentials, scopes: 'public proposals' });
    assert.ok((await firstProposal(client)) > 0);
  });

  test('tokens may come from a function', async () => {
    const { getToken } = createClient(credentials);
    assert.ok((await firstProposal(createClient({ baseUrl, getToken }))) > 0);
  });

  test('a wrong secret', async () => {
    const client = createClient({ ...credentials, clientSecret: `wrong-${clientSecret}` });
    await assert.rejects(firstProposal(client), (error) => {
      assert.ok(error instanceof Unauthorized);
      assert.equal(error.error, 'invalid_client');
      return true;
    });
  });

  test('the token is not sent to other hosts', async () => {
    const receiver = await receive();
    const client = createClient(credentials);
    await client.fetch(new Request(receiver.url));
    const { headers } = await receiver.next();
    assert.equal(headers.authorization, undefined);
    receiver.close();
  });
});

describe('votes', { concurrency: true }, () => {
  test('a vote', async () => {
    const [client, proposal_id] = [newUser(), await firstProposal()];
    const { data } = await client.POST('/vote_proposals/sync', { body: { proposal_id, data: { weight: 1 } } });
    assert.ok('weight' in data.data.attributes);
    assert.equal(data.data.attributes.weight, 1);
    const again = client.POST('/vote_proposals/sync', { body: { proposal_id, data: { weight: 1 } } });
    await assert.rejects(again, (error) => error instanceof BadRequest && error.description === 'Already voted');
  });

  test('a repeated write has one effect', async () => {
    const [client, proposal_id] = [newUser(), await firstProposal()];
    const params = { header: { 'Idempotency-Key': randomUUID() } };
    const send = async (weight: number) =>
      (await client.POST('/vote_proposals/sync', { params, body: { proposal_id, data: { weight } } })).data;
    assert.deepEqual(await send(1), await send(1));
    await assert.rejects(send(-1), (error) => error instanceof Unprocessable);
  });

  test('a vote as a job', async () => {
    const [client, proposal_id] = [newUser(), await firstProposal()];
    const { data } = await client.POST('/vote_proposals', { body: { proposal_id, data: { weight: 1 } } });
    const job = await client.wait(data, { timeoutMs: 30_000 });
    assert.equal(job.command_key, 'vote_proposals#create');
    assert.deepEqual(await client.wait(job.id), job);
  });

  test('a job that fails', async () => {
    const [client, proposal_id] = [newUser(), await firstProposal()];
    const { data } = await client.POST('/vote_proposals', { body: { proposal_id, data: { weight: 99 } } });
    await assert.rejects(client.wait(data.job_id), (error) => {
      assert.ok(error instanceof JobFailed);
      assert.equal(error.errorClass, 'BadRequest');
      assert.match(error.message, /Weight/);
      return true;
    });
  });

  test('a job that fails with details', async () => {
    const client = newUser();
    const draft = await client.POST('/draft_proposals/sync', { body: { data: { component_id } } });
    const path = { id: Number(draft.data.data.id) };
    const { data } = await client.POST('/draft_proposals/{id}/publish', { params: { path } });
    await assert.rejects(client.wait(data), (error) => {
      assert.ok(error instanceof JobFailed);
      assert.deepEqual(error.details.map(({ field, code }) => `${field} ${code}`), ['title blank', 'body blank']);
      return true;
    });
  });
});

describe('pages', { concurrency: true }, () => {
  test('pages through all proposals', async () => {
    const [lengths, ids] = [[] as number[], new Set<string>()];
    for await (const page of createClient(credentials).pages('/proposals', { component_id, per_page: 50 })) {
      lengths.push(page.data.length);
      for (const proposal of page.data) ids.add(proposal.id);
    }
    assert.deepEqual(lengths, [50, 50, 50, 50, 5]);
    assert.equal(ids.size, proposalCount);
  });

  test('items of all pages', async () => {
    const titles: (string | undefined)[] = [];
    for await (const proposal of createClient(credentials).items('/proposals', { component_id })) {
      titles.push(proposal.attributes.title.en);
    }
    assert.equal(new Set(titles).size, proposalCount);
    assert.equal(titles.length, proposalCount);
  });

  test('filters', async () => {
    const id = await firstProposal();
    const found: string[] = [];
    for await (const proposal of createClient(credentials).items('/proposals', { 'filter[id_in][]': [id] })) {
      found.push(proposal.id);
    }
    assert.deepEqual(found, [String(id)]);
  });

  test('typed filters, orders and totals', async () => {
    const client = createClient(credentials);
    const published = new Date('2026-02-02T09:00:00Z');
    const totals: [ListQuery<'/proposals'>, number][] = [
      [{ component_id }, proposalCount],
      [{ component_id, filter: { title_cont: 'NUMBER 20' } }, 6],
      [{ component_id, filter: { search_text_cont: 'bénch', id_blank: false } }, proposalCount],
      [{ component_id, filter: { published_at_in: [published, '2026-02-03T09:00:00+05:00'] } }, proposalCount],
      [{ component_id, 'filter[published_at_lteq]': published }, proposalCount],
      [{ component_id, per_page: 50, filter: { published_at_gt: published } }, 0],
    ];
    for (const [query, total] of totals) {
      assert.equal(await client.total('/proposals', query), total, JSON.stringify(query));
    }
    const ids: number[] = [];
    const query = { component_id, order: 'id', order_direction: 'desc', per_page: 50 } as const;
    for await (const proposal of client.items('/proposals', query)) ids.push(Number(proposal.id));
    assert.deepEqual(ids, [...ids].sort((left, right) => right - left));
    assert.equal(ids.length, proposalCount);
  });

  test('types of filters', () => {
    const filters: ListFilter<'/proposals'>[] = [
      { title_cont: 'bench', id_in: [1, 2], published_at_gteq: new Date(), published_at_lt: '2026-02-02' },
      // @ts-expect-error: no such field.
      { titel_cont: 'bench' },
      // @ts-expect-error: not a text.
      { title_cont: 3 },
      // @ts-expect-error: not a list.
      { id_in: 3 },
      // @ts-expect-error: not a time.
      { published_at_gteq: 3 },
    ];
    assert.equal(filters.length, 5);
  });

  /** A client of a list of two pages, and the list of requests that it receives. */
  function listing(headers: Record<string, string>, next: string | null): [Client, Request[]] {
    const sent: Request[] = [];
    const answer = async (request: Request) => {
      const isLast = sent.push(request) > 1 || next === null;
      const meta = { page: 1, per_page: 2, has_more: !isLast, next: isLast ? null : next, prev: null };
      return Response.json({ data: [], meta }, sent.length > 1 ? {} : { headers });
    };
    return [createClient({ baseUrl: 'https://city.example', getToken: async () => 'token', fetch: answer }), sent];
  }

  test('pages follow links to their end', async () => {
    const other = 'https://other.example/x';
    const link = `<${other}?page=1>; rel="first", <${other}?after=2&a%5B%5D=b>; rel="next", <${other}>; rel="last"`;
    const cases: [Record<string, string>, string][] = [
      [{ Link: link }, '?after=2&a%5B%5D=b'],
      [{}, '?page=7&a%5B%5D=c'],
    ];
    for (const [headers, following] of cases) {
      const [client, sent] = listing(headers, 'https://city.example/y?page=7&a%5B%5D=c');
      const filter = { title_cont: 'é', id_in: [1, 2], published_at_gteq: new Date(0) };
      let pages = 0;
      for await (const page of client.pages('/proposals', { per_page: 2, filter })) pages += 1 + page.data.length;
      assert.equal(pages, 2);
      const [first, second] = sent.map(({ url }) => new URL(url));
      assert.deepEqual(first?.searchParams.getAll('filter[id_in][]'), ['1', '2']);
      assert.equal(first?.searchParams.get('filter[title_cont]'), 'é');
      assert.equal(first?.searchParams.get('filter[published_at_gteq]'), '1970-01-01T00:00:00.000Z');
      assert.equal(first?.searchParams.get('per_page'), '2');
      assert.deepEqual([second?.host, second?.pathname, second?.search], ['city.example', first?.pathname, following]);
    }
  });

  test('a total is that of the header', async () => {
    const [client, sent] = listing({ Total: '12345' }, null);
    assert.equal(await client.total('/proposals', { per_page: 50, filter: { title_cont: 'bench' } }), 12345);
    assert.equal(sent[0]?.headers.get('Prefer'), 'count=exact');
    assert.equal(new URL(sent[0]?.url ?? '').searchParams.get('per_page'), '1');
    await assert.rejects(listing({}, null)[0].total('/proposals'), CivitasError);
  });

  test('only lists have pages', () => {
    const list: ListPath = '/users';
    // @ts-expect-error: this path is not a list.
    const other: ListPath = '/proposals/{id}';
    assert.notEqual(list, other);
  });
});

describe('conditional GET', { concurrency: true }, () => {
  test('an unchanged answer comes from the cache', async () => {
    // A component: other tests vote for proposals meanwhile.
    const path = { id: component_id };
    const [client, answers] = recording();
    const first = await client.GET('/components/proposal_components/{id}', { params: { path } });
    const second = await client.GET('/components/proposal_components/{id}', { params: { path } });
    assert.deepEqual(statusesOfGet(answers), [200, 304]);
    assert.deepEqual([second.response.status, second.data], [200, first.data]);
    assert.match(second.response.headers.get('Cache-Status') ?? '', /hit/);
  });

  test('a changed answer is read again', async () => {
    const path = { id: await firstProposal() };
    const [client, answers] = recording({ username: userName(), meta });
    await client.GET('/proposals/{id}', { params: { path } });
    await client.POST('/vote_proposals/sync', { body: { proposal_id: path.id, data: { weight: 1 } } });
    const { data } = await client.GET('/proposals/{id}', { params: { path } });
    assert.equal(data.data.meta.voted?.weight, 1);
    assert.deepEqual(statusesOfGet(answers), [200, 200]);
  });

  test('the cache is bounded', async () => {
    const [client, answers] = recording({ cacheBytes: 0 });
    await firstProposal(client);
    await firstProposal(client);
    assert.deepEqual(statusesOfGet(answers), [200, 200]);
  });
});

describe('errors', { concurrency: true }, () => {
  test('not found', async () => {
    const call = createClient(credentials).GET('/proposals/{id}', { params: { path: { id: 999_999_999 } } });
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof NotFound);
      assert.deepEqual([error.status, error.error, error.method], [404, '404: Resource not found', 'GET']);
      assert.ok(error.url.endsWith('/proposals/999999999'));
      return true;
    });
  });

  test('forbidden', async () => {
    const client = createClient({ ...credentials, clientId: 'tests-public', scopes: ['public', 'proposals'] });
    await assert.rejects(firstProposal(client), Forbidden);
  });

  test('unprocessable, with details', async () => {
    const call = newUser().POST('/me/magic_links', { body: { data: { redirect_url: 'http://localhost/' } } });
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof Unprocessable);
      assert.deepEqual(error.details.map(({ code }) => code), ['https_only']);
      return true;
    });
  });
});

interface Delivery {
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** An HTTP server that stores headers and body of each request. */
async function receive() {
  const deliveries: Delivery[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    deliveries.push({ headers: request.headers, body: Buffer.concat(parts) });
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const next = async (holds: (delivery: Delivery) => boolean = () => true): Promise<Delivery> => {
    for (const end = Date.now() + 20_000; Date.now() < end; await sleep(20)) {
      const found = deliveries.find(holds);
      if (found) return found;
    }
    return assert.fail('no delivery within 20 s');
  };
  const close = () => server.close();
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, next, close };
}

describe('webhooks', { concurrency: true }, () => {
  test('a delivery', async () => {
    const [client, receiver, username] = [createClient(credentials), await receive(), userName()];
    const attributes = { url: receiver.url, subscriptions: ['user.created'] as const };
    const { data } = await client.POST('/webhook_registrations', {
      body: { data: { attributes: { ...attributes, subscriptions: [...attributes.subscriptions] } } },
    });
    try {
      await createClient({ ...credentials, username, meta }).getToken();
      const { headers, body } = await receiver.next((delivery) => delivery.body.includes(username));
      await check(headers, body, data.data.attributes.signing_secret ?? '');
    } finally {
      await client.DELETE('/webhook_registrations/{id}', { params: { path: { id: data.data.id } } });
      receiver.close();
    }
  });

  async function check(headers: IncomingHttpHeaders, body: Buffer, secret: string) {
    const event = await verifyWebhook(headers, body, secret);
    assert.equal(event.type, 'user.created');
    assert.equal(event.id, headers['x-webhook-id']);
    const at = event.timestamp;
    const rejected: [string, IncomingHttpHeaders, Buffer | string, string, number][] = [
      ['a changed body', headers, body.toString().replace('user.created', 'user.updated'), secret, at],
      ['another secret', headers, body, '0'.repeat(64), at],
      ['a changed timestamp', { ...headers, 'x-webhook-timestamp': String(at + 1) }, body, secret, at],
      ['no signature', { ...headers, 'x-webhook-signature': '' }, body, secret, at],
      ['a signature that is not hexadecimal', { ...headers, 'x-webhook-signature': 'v1=\u00ff' }, body, secret, at],
      ['no headers', {}, body, secret, at],
      ['a stale timestamp', headers, body, secret, at + 301],
      ['a timestamp in the future', headers, body, secret, at - 301],
    ];
    for (const [name, ...delivery] of rejected) {
      await assert.rejects(verifyWebhook(...delivery), WebhookVerificationError, name);
    }
    assert.deepEqual(await verifyWebhook(headers, body, secret, at + 300), event);
  }

  test('the vector of the interface', async () => {
    const secret = '8f2a1c4e6b7d90315a2f4c6e8b0d1f3a5c7e9b1d3f5a7c9e0b2d4f6a8c0e2f4a';
    const data = '{"id":"42","type":"proposal","attributes":{"title":{"en":"Café & bikes"}}}';
    const body = `{"type":"proposal_creation.succeeded","data":${data}}`;
    const headers = new Headers({
      'X-Webhook-Timestamp': '1767225600',
      'X-Webhook-Signature': 'v1=85c2654024aa8ba30b9bd2fe85d551b001194ce31dfeb3d8b1e89cf42381d966',
    });
    const event = await verifyWebhook(headers, body, secret, 1767225600);
    assert.equal(event.type, 'proposal_creation.succeeded');
  });
});
