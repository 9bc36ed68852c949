/** Declares the errors of the air-quality API, `{id, message}`. */

import type { FastifyReply } from 'fastify'
import { commonErrors, type ErrorEntry, serverErrors, setRefusal } from '../http/errors.ts'

interface AirQualityError extends ErrorEntry {
  /** Clients distinguish errors by it. */
  id: string
}

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
  FORBIDDEN: { ...commonErrors.FORBIDDEN, id: 'forbidden' },
  HTTPS_REQUIRED: { status: 403, id: 'forbidden', text: 'use HTTPS' },
  NOT_FOUND: { ...serverErrors.NOT_FOUND, id: 'not_found' },
  STATION_UNKNOWN: { ...commonErrors.STATION_UNKNOWN, id: 'not_found' },
  POINT_UNKNOWN: { status: 404, id: 'not_found', text: 'no such data point' },
  PAGE_UNKNOWN: { status: 404, id: 'not_found', text: 'no such page' },
  METHOD_NOT_ALLOWED: { ...serverErrors.METHOD_NOT_ALLOWED, id: 'method_not_allowed' },
  TIMEOUT: { ...serverErrors.TIMEOUT, id: 'timeout' },
  SN_TAKEN: { ...commonErrors.SN_TAKEN, id: 'conflict' },
  REGISTRY_FULL: { ...commonErrors.REGISTRY_FULL, id: 'conflict' },
  ETAG_DIFFERENT: { status: 412, id: 'precondition_failed', text: 'If-Match names no ETag of this resource' },
  PAYLOAD_TOO_LARGE: { ...serverErrors.PAYLOAD_TOO_LARGE, id: 'too_large' },
  URI_TOO_LONG: { ...serverErrors.URI_TOO_LONG, id: 'too_large' },
  MEDIA_TYPE_UNSUPPORTED: {
    status: 415,
    id: 'unsupported_media_type',
    text: 'send application/json in UTF-8, not compressed',
  },
  TOO_MANY_ATTEMPTS: { ...commonErrors.TOO_MANY_ATTEMPTS, id: 'too_many_requests' },
  INTERNAL: { ...serverErrors.INTERNAL, id: 'server_error' },
  STORAGE_FAILED: { ...commonErrors.STORAGE_FAILED, id: 'server_error' },
  STORAGE_FULL: { ...commonErrors.STORAGE_FULL, id: 'unavailable' },
  CLOSING: { ...commonErrors.CLOSING, id: 'unavailable' },
  DATABASE_AWAY: { ...commonErrors.DATABASE_AWAY, id: 'unavailable' },
  TIMED_OUT: { ...commonErrors.TIMED_OUT, id: 'unavailable' },
  TOO_MANY_BODIES: { status: 503, id: 'unavailable', text: 'too many data points at once', retryAfterSeconds: 5 },
  QUEUE_FULL: { ...commonErrors.QUEUE_FULL, id: 'unavailable' },
  OUTCOME_UNKNOWN: { ...commonErrors.OUTCOME_UNKNOWN, id: 'unavailable' },
  SENDING_TOO_MUCH: { ...serverErrors.SENDING_TOO_MUCH, id: 'unavailable' },
} as const satisfies Readonly<Record<string, AirQualityError>>
export type AirQualityErrorCode = keyof typeof airQualityErrors

/** `message` replaces the table's text. */
export function sendError(reply: FastifyReply, code: AirQualityErrorCode, message?: string): FastifyReply {
  const { id, text } = airQualityErrors[code]
  if (code === 'UNAUTHORIZED') reply.header('www-authenticate', 'Basic realm="Authentication Required"')
  // Bytes, because the framework adds a charset to the type of a text.
  const body = Buffer.from(JSON.stringify({ id, message: message ?? text }))
  return setRefusal(reply, airQualityErrors[code]).header('content-type', 'application/json').send(body)
}
