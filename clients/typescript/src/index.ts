/** Client of Civitas. */
export {
  type Client,
  type ClientOptions,
  createClient,
  type Data,
  type ListFilter,
  type ListPath,
  type ListQuery,
  type WaitOptions,
} from './client.js';
export {
  ApiError,
  BadRequest,
  CivitasError,
  Conflict,
  type ErrorDetail,
  type Failure,
  Forbidden,
  type Job,
  JobFailed,
  JobTimeout,
  NotEnabled,
  NotFound,
  RateLimited,
  ServiceUnavailable,
  Unauthorized,
  Unprocessable,
  WebhookVerificationError,
} from './errors.js';
export type { components, operations, paths } from './generated/schema.js';
export type { GetToken, Send } from './transport.js';
export { verifyWebhook, type WebhookEnvelope, type WebhookEvent, type WebhookHeaders } from './webhooks.js';
