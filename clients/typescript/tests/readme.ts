/** What the examples of README.md need. `readme.mjs` makes tests of them. */
import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { type Client, createClient } from '@civitas/client';

const setting = (name: string) => process.env[`CIVITAS_TEST_${name}`] ?? assert.fail(`CIVITAS_TEST_${name} is not set`);
export const baseUrl = setting('URL');
export const clientId = 'tests-full';
export const clientSecret = setting('SECRET');
export const component_id = Number(setting('COMPONENT'));
export const proposalCount = Number(setting('PROPOSALS'));
export const signingSecret = '0123456789abcdef';
const credentials = { baseUrl, clientId, clientSecret, scopes: ['public', 'proposals', 'oauth'] };

/** A console that keeps what is printed. */
export function recorder() {
  const printed: unknown[][] = [];
  const log = (...values: unknown[]) => {
    printed.push(values);
  };
  return { printed, console: { log } };
}

/** A client for itself. */
export function reader(): Client {
  return createClient(credentials);
}

/** A client for a new user. */
export function voter(): Client {
  const meta = { register_on_missing: true, skip_confirmation_on_register: true };
  return createClient({ ...credentials, username: `ts_${randomUUID().replaceAll('-', '').slice(0, 12)}`, meta });
}

/** The id of a proposal that accepts votes. */
export async function firstProposal(): Promise<number> {
  const query = { component_id, per_page: 1 };
  const { data } = await createClient(credentials).GET('/proposals', { params: { query } });
  return Number(data.data[0]?.id);
}

/** A request with a webhook. */
export function delivery() {
  const body = '{"type":"user.created","data":{"id":"17","type":"user"}}';
  const at = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', signingSecret).update(`${at}.${body}`).digest('hex');
  const headers = { 'x-webhook-id': '1', 'x-webhook-timestamp': at, 'x-webhook-signature': `v1=${signature}` };
  return { request: { headers }, body };
}
