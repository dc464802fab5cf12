/** Errors: answers of the interface that are not a success, failed jobs, rejected webhooks. */
import type { components } from './generated/schema.js';

export type Job = components['schemas']['rest_full_api_job_detail'];

/** An invalid member of a request. `code` and `field` are for programs, `description` for people. */
export type ErrorDetail = components['schemas']['error_detail'];

/** The base of all errors of this package. */
export class CivitasError extends Error {
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/** An answer that is not a success. The subclass depends on the status. */
export class ApiError extends CivitasError {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly error: string;
  readonly description: string;
  readonly details: readonly ErrorDetail[];
  /** The header `Retry-After` in seconds. */
  readonly retryAfter: number | undefined;

  constructor(failure: Failure) {
    super(failure.description ? `${failure.error}: ${failure.description}` : failure.error);
    this.method = failure.method;
    this.url = failure.url;
    this.status = failure.status;
    this.error = failure.error;
    this.description = failure.description;
    this.details = failure.details;
    this.retryAfter = failure.retryAfter;
  }
}

/** What is read of an answer that is not a success. */
export type Failure = Omit<ApiError, keyof CivitasError>;

/** 400: a value is invalid or a rule is violated. */
export class BadRequest extends ApiError {}
/** 401: no valid token, or the client could not be authenticated. */
export class Unauthorized extends ApiError {}
/** 403: a scope or an ability is missing. */
export class Forbidden extends ApiError {}
/** 404: no such record, or not visible to the caller. */
export class NotFound extends ApiError {}
/** 409: another request is in progress. */
export class Conflict extends ApiError {}
/** 422: well-formed but not allowed. */
export class Unprocessable extends ApiError {}
/** 429: too many requests. `retryAfter` is the delay in seconds. */
export class RateLimited extends ApiError {}
/** 501: the interface, or this part of it, is switched off for the organization. */
export class NotEnabled extends ApiError {}
/** 503: overloaded, nothing was stored. `retryAfter` is the delay in seconds. */
export class ServiceUnavailable extends ApiError {}

const CLASSES: Readonly<Record<number, typeof ApiError>> = {
  400: BadRequest,
  401: Unauthorized,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  422: Unprocessable,
  429: RateLimited,
  501: NotEnabled,
  503: ServiceUnavailable,
};

/** Reads the body of an answer that is not a success. */
export async function readError(request: Request, response: Response): Promise<ApiError> {
  const body = asObject(await response.json().catch(() => undefined));
  const details = Array.isArray(body['error_details']) ? body['error_details'].map(asObject) : [];
  return new (CLASSES[response.status] ?? ApiError)({
    method: request.method,
    url: request.url,
    status: response.status,
    error: asText(body['error']) || `${response.status}: ${response.statusText}`,
    description: asText(body['error_description']),
    details: details.map((detail) => ({
      code: asText(detail['code']),
      field: asText(detail['field']),
      description: asText(detail['description']),
    })),
    retryAfter: readRetryAfter(response),
  });
}

/** The header `Retry-After` in seconds; undefined if it is absent or not a number. */
export function readRetryAfter(response: Response): number | undefined {
  const value = response.headers.get('Retry-After') ?? '';
  return /^[0-9]+$/.test(value) ? Number(value) : undefined;
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The job failed. `errorClass` is a stable name, `message` has the error text of the synchronous endpoint. */
export class JobFailed extends CivitasError {
  readonly errorClass: string | null;
  readonly description: string | null;
  readonly details: readonly ErrorDetail[];

  constructor(readonly job: Job) {
    super(`job ${job.id} failed: ${job.error_class}: ${job.error_message}`);
    this.errorClass = job.error_class;
    this.description = job.error_message;
    this.details = job.error_details ?? [];
  }
}

/** The job did not end in time. It may still end later. */
export class JobTimeout extends CivitasError {}

/** The request is not a valid delivery. Answer 400 or 401 and ignore its body. */
export class WebhookVerificationError extends CivitasError {}
