/** The errors of the air-quality API, written as `{id, message}`. */

import type { FastifyReply } from 'fastify'
import { type ErrorEntry, serverErrors } from '../http/errors.ts'

interface AirQualityError extends ErrorEntry {
  /** By which clients tell them apart. */
  id: string
}

const retryAfterSeconds = 5

export const airQualityErrors = {
  BAD_REQUEST: { ...serverErrors.BAD_REQUEST, id: 'bad_request' },
  FORMAT_INVALID: { status: 400, id: 'bad_request', text: 'format: must be json, csv or ndjson' },
  MEAN_UNBOUNDED: {
    status: 400,
    id: 'bad_request',
    text: 'a filter or sort on a running mean needs a lower and an upper bound on timestamp, at most 31 days apart',
  },
  TOO_MANY_POINTS: {
    status: 400,
    id: 'bad_request',
    text: 'too many data points for such a filter or sort: narrow it by bounds on timestamp',
  },
  JSON_INVALID: { ...serverErrors.JSON_INVALID, id: 'bad_request' },
  UNAUTHORIZED: { status: 401, id: 'unauthorized', text: 'send an API key as the user name of HTTP Basic' },
  FORBIDDEN: { status: 403, id: 'forbidden', text: 'the API key may not do this' },
  HTTPS_REQUIRED: { status: 403, id: 'forbidden', text: 'use HTTPS' },
  NOT_FOUND: { ...serverErrors.NOT_FOUND, id: 'not_found' },
  STATION_UNKNOWN: { status: 404, id: 'not_found', text: 'no such device' },
  POINT_UNKNOWN: { status: 404, id: 'not_found', text: 'no such data point' },
  PAGE_UNKNOWN: { status: 404, id: 'not_found', text: 'no such page' },
  METHOD_NOT_ALLOWED: { ...serverErrors.METHOD_NOT_ALLOWED, id: 'method_not_allowed' },
  TIMEOUT: { ...serverErrors.TIMEOUT, id: 'timeout' },
  SN_TAKEN: { status: 409, id: 'conflict', text: 'another device has this sn' },
  REGISTRY_FULL: { status: 409, id: 'conflict', text: 'no further device can be added' },
  ETAG_DIFFERENT: { status: 412, id: 'precondition_failed', text: 'If-Match names no ETag of this resource' },
  PAYLOAD_TOO_LARGE: { ...serverErrors.PAYLOAD_TOO_LARGE, id: 'too_large' },
  URI_TOO_LONG: { ...serverErrors.URI_TOO_LONG, id: 'too_large' },
  MEDIA_TYPE_UNSUPPORTED: {
    status: 415,
    id: 'unsupported_media_type',
    text: 'send application/json in UTF-8, not compressed',
  },
  TOO_MANY_ATTEMPTS: {
    status: 429,
    id: 'too_many_requests',
    retryAfterSeconds,
    text: 'too many wrong API keys from this address',
  },
  INTERNAL: { ...serverErrors.INTERNAL, id: 'server_error' },
  STORAGE_FAILED: { status: 500, id: 'server_error', text: 'it is not known whether the data points are stored' },
  STORAGE_FULL: { status: 503, id: 'unavailable', text: 'the storage is full', retryAfterSeconds },
  CLOSING: { status: 503, id: 'unavailable', text: 'the server is shutting down', retryAfterSeconds },
  DATABASE_AWAY: { status: 503, id: 'unavailable', text: 'the database does not respond', retryAfterSeconds },
  TIMED_OUT: { status: 503, id: 'unavailable', text: 'the query took too long', retryAfterSeconds },
  TOO_MANY_BODIES: { status: 503, id: 'unavailable', text: 'too many data points at once', retryAfterSeconds },
  QUEUE_FULL: { status: 503, id: 'unavailable', text: 'too many queries at once', retryAfterSeconds },
  OUTCOME_UNKNOWN: {
    status: 503,
    id: 'unavailable',
    retryAfterSeconds,
    text: 'the database did not confirm the change, which may have been made or not',
  },
  SENDING_TOO_MUCH: { ...serverErrors.SENDING_TOO_MUCH, id: 'unavailable', retryAfterSeconds },
} as const satisfies Readonly<Record<string, AirQualityError>>
export type AirQualityErrorCode = keyof typeof airQualityErrors

/** The message of this occurrence stands in place of the table's. */
export function sendError(reply: FastifyReply, code: AirQualityErrorCode, message?: string): FastifyReply {
  const { status, id, text, retryAfterSeconds }: AirQualityError = airQualityErrors[code]
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
  if (code === 'UNAUTHORIZED') reply.header('www-authenticate', 'Basic realm="Authentication Required"')
  // Bytes, because the framework adds a charset to the type of a text.
  const body = Buffer.from(JSON.stringify({ id, message: message ?? text }))
  return reply.code(status).header('content-type', 'application/json').send(body)
}
