/** Errors of the admin API as problem documents (RFC 9457): the table of codes, and failures of the framework, a parser or a part behind a route. */

import type { FastifyError, FastifyReply } from 'fastify'
import { z } from 'zod'
import { ChangeInDoubt, LeaseExpired } from '../../auth/record-cache.ts'
import { TooBusy } from '../../auth/too-busy.ts'
import type { Log } from '../../store/log.ts'
import { isConflict, isUnavailable, OutcomeUnknown } from '../../store/postgres/postgres-errors.ts'
import {
  commonErrors,
  type ErrorTable,
  errorCodeOf,
  leavesBodyUnread,
  type ServerErrorCode,
  serverErrors,
  setRefusal,
  setRetryAfter,
} from '../http/errors.ts'
import type { Invalid } from '../http/operation.ts'
import type { Scope } from '../http/route-family.ts'

const retryAfterSeconds = 5

export const adminErrors = {
  ...serverErrors,
  FORBIDDEN: commonErrors.FORBIDDEN,
  CROSS_SITE: { status: 403, text: 'cross-site request' },
  QUERY_INVALID: { status: 400, text: 'invalid query' },
  BODY_INVALID: { status: 422, text: 'invalid body' },
  CODING_UNSUPPORTED: { status: 415, text: 'unsupported content encoding' },
  DEVICE_UNKNOWN: commonErrors.DEVICE_UNKNOWN,
  NAME_TAKEN: { status: 409, text: 'name taken' },
  NAME_TWICE: { status: 422, text: 'name twice' },
  REGISTRY_FULL: commonErrors.REGISTRY_FULL,
  TOO_MANY_DEVICES: { status: 413, text: 'too many devices' },
  TOO_MANY_CHANGES: { status: 503, text: 'too many changes', retryAfterSeconds },
  DATABASE_AWAY: commonErrors.DATABASE_AWAY,
  OUTCOME_UNKNOWN: commonErrors.OUTCOME_UNKNOWN,
  OWNER_UNKNOWN: { status: 422, text: 'owner unknown' },
  ACCOUNT_UNKNOWN: { status: 404, text: 'account unknown' },
  EMAIL_TAKEN: { status: 409, text: 'email taken' },
  OPERATOR_STAYS: { status: 409, text: 'operator stays' },
  OPERATOR_OTHER: { status: 409, text: 'other operator' },
  OPERATOR_ONLY: { status: 403, text: 'operator only' },
  OWN_ACCOUNT: { status: 403, text: 'own account' },
  LAST_ADMINISTRATOR: { status: 409, text: 'last administrator' },
  ROLE_IMPOSSIBLE: { status: 409, text: 'role impossible' },
  KEY_UNKNOWN: { status: 404, text: 'key unknown' },
  ACCOUNT_INACTIVE: { status: 409, text: 'account inactive' },
  SCOPE_NOT_ALLOWED: { status: 409, text: 'scope not allowed' },
  TAGS_NOT_ALLOWED: { status: 409, text: 'tags not allowed with these scopes' },
  OWNER_UNVERIFIED: { status: 409, text: 'owner unverified' },
  TOO_MANY_KEYS: { status: 409, text: 'too many keys' },
  INVITATION_UNKNOWN: { status: 404, text: 'invitation unknown' },
  TOO_MANY_INVITATIONS: { status: 409, text: 'too many invitations' },
  SIGN_UP_OFF: { status: 409, text: 'sign-up off' },
  TOO_MANY_REQUESTS: { status: 429, text: 'too many requests' },
  TENANT_UNKNOWN: { status: 404, text: 'tenant unknown' },
  SLUG_TAKEN: { status: 409, text: 'slug taken' },
  TOO_MANY_TENANTS: { status: 409, text: 'too many tenants' },
  TOO_BUSY: { status: 503, text: 'too busy', retryAfterSeconds },
  STATION_UNKNOWN: commonErrors.STATION_UNKNOWN,
  SN_TAKEN: commonErrors.SN_TAKEN,
  DECODER_UNKNOWN: { status: 404, text: 'decoder unknown' },
  TOO_MANY_DECODERS: { status: 409, text: 'too many decoders' },
  METRIC_UNKNOWN: { status: 404, text: 'metric unknown' },
  METRIC_BUILT_IN: { status: 409, text: 'metric built in' },
  METRIC_IN_USE: { status: 409, text: 'metric in use' },
  METRICS_UNKNOWN: { status: 422, text: 'metrics unknown' },
  RANGE_EMPTY: { status: 422, text: 'range empty' },
  ALERT_UNKNOWN: { status: 404, text: 'alert unknown' },
  ALERT_RESOLVED: { status: 409, text: 'alert resolved' },
  RULE_UNKNOWN: { status: 404, text: 'rule unknown' },
  RULE_INVALID: { status: 422, text: 'rule invalid' },
  TOO_MANY_RULES: { status: 409, text: 'too many rules' },
  TOO_MANY_PAIRS: { status: 409, text: 'too many pairs' },
  CHANNEL_UNKNOWN: { status: 404, text: 'channel unknown' },
  CHANNELS_UNKNOWN: { status: 422, text: 'channels unknown' },
  CHANNEL_DISABLED: { status: 409, text: 'channel disabled' },
  CHANNEL_WITHOUT_SECRET: { status: 409, text: 'channel without secret' },
  TOO_MANY_CHANNELS: { status: 409, text: 'too many channels' },
  TARGET_REFUSED: { status: 422, text: 'target refused' },
  SILENCE_UNKNOWN: { status: 404, text: 'silence unknown' },
  TOO_MANY_SILENCES: { status: 409, text: 'too many silences' },
  DELIVERY_UNKNOWN: { status: 404, text: 'delivery unknown' },
  PREVIEW_TOO_LARGE: { status: 413, text: 'preview too large' },
  PREVIEW_BUSY: { status: 503, text: 'preview busy', retryAfterSeconds },
  ANNOTATION_UNKNOWN: { status: 404, text: 'annotation unknown' },
  TOO_MANY_ANNOTATIONS: { status: 409, text: 'too many annotations' },
  NODE_OTHER: { status: 409, text: 'other node' },
  BACKUP_RUNNING: { status: 409, text: 'backup running' },
  NO_WAITING_DAYS: { status: 409, text: 'no waiting days' },
  FILE_NOT_ARCHIVED: { status: 404, text: 'file not archived' },
  ARCHIVE_FAILED: { status: 503, text: 'archive failed', retryAfterSeconds },
  CONTENT_UNKNOWN: { status: 400, text: 'unknown content' },
  HEADER_INVALID: { status: 400, text: 'invalid header' },
  NO_READINGS: { status: 400, text: 'no readings' },
  NO_POINTS: { status: 400, text: 'no points' },
  BODY_BROKEN: commonErrors.BODY_BROKEN,
  STORAGE_FULL: commonErrors.STORAGE_FULL,
  CLOSING: commonErrors.CLOSING,
  STORAGE_FAILED: commonErrors.STORAGE_FAILED,
  HTTP_VERSION: commonErrors.HTTP_VERSION,
} as const satisfies ErrorTable
export type AdminErrorCode = keyof typeof adminErrors

export const Problem = z
  .object({
    type: z.string().meta({ description: 'Identifies the problem for programs.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().optional(),
    errors: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'The error, and its place in the body or the address.' }),
  })
  .meta({ id: 'Problem', description: 'RFC 9457.' })

export interface Issue {
  /** Place in the body or the address: `[3].name`, `page`; empty for the whole. */
  path: string
  message: string
}

export interface Occurrence {
  /** Describes this occurrence to a person. */
  detail?: string | undefined
  errors?: readonly Issue[] | undefined
  /** Extension members of this kind of problem, such as its progress (RFC 9457, 3.2). */
  members?: Readonly<Record<string, unknown>> | undefined
}

/** A person corrects the first few and tries again. */
const errorsMax = 100

export function sendProblem(reply: FastifyReply, code: AdminErrorCode, occurrence: Occurrence = {}): FastifyReply {
  const { status, text: title } = adminErrors[code]
  const { detail, errors, members } = occurrence
  if (code === 'UNAUTHORIZED') reply.header('www-authenticate', 'Bearer realm="admin"')
  return setRefusal(reply, adminErrors[code])
    .header('content-type', 'application/problem+json')
    .send(
      JSON.stringify({
        // Programs identify the problem by it.
        type: `urn:barograph:problem:${title.replaceAll(' ', '-')}`,
        title,
        status,
        ...(detail === undefined ? {} : { detail }),
        ...(errors === undefined ? {} : { errors: errors.slice(0, errorsMax) }),
        ...members,
      }),
    )
}

/** QuestDB has not answered a read. */
export function sendQuestdbAway(reply: FastifyReply): FastifyReply {
  return sendProblem(reply, 'DATABASE_AWAY', { detail: reply.server.databaseFault?.() ?? 'QuestDB does not answer' })
}

/** Reports the issues of a body or an address. */
export function sendInvalid(reply: FastifyReply, code: 'QUERY_INVALID' | 'BODY_INVALID', error: Invalid): FastifyReply {
  return sendProblem(reply, code, { errors: issuesOf(error) })
}

export function issuesOf({ issues }: Invalid): Issue[] {
  return issues.map(({ path, message }) => ({ path: pathOf(path), message }))
}

function pathOf(path: readonly PropertyKey[]): string {
  const steps = path.map(step => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
  return steps.join('').replace(/^\./, '')
}

const details: Partial<Record<ServerErrorCode, string>> = {
  JSON_INVALID: 'the body is not JSON in UTF-8',
  TIMEOUT: 'the body did not arrive in time',
  MEDIA_TYPE_UNSUPPORTED: 'send application/json in UTF-8, not compressed',
}

class Unsettled extends Error {}

/** A read is refused rather than answered with outdated data. */
export function requireSettled(isSettled: boolean): void {
  if (!isSettled) throw new Unsettled()
}

export function answerErrors(scope: Scope, log: Log): void {
  scope.setNotFoundHandler((_request, reply) => sendProblem(reply, 'NOT_FOUND'))
  scope.setErrorHandler((error: FastifyError, _request, reply) => sendFailure(reply, error, log))
}

export function sendFailure(reply: FastifyReply, error: unknown, log: Log): FastifyReply {
  if (error instanceof OutcomeUnknown) return sendUnknownOutcome(reply)
  if (error instanceof LeaseExpired) return sendProblem(reply, 'DATABASE_AWAY', { detail: error.message })
  if (error instanceof Unsettled) {
    const detail = 'PostgreSQL does not answer; the outcome of the last change is not known yet'
    return sendProblem(reply, 'DATABASE_AWAY', { detail })
  }
  if (error instanceof ChangeInDoubt) {
    return sendProblem(reply, 'DATABASE_AWAY', { detail: 'the outcome of the last change is not known yet' })
  }
  if (error instanceof TooBusy) return sendProblem(setRetryAfter(reply, error.retryAfterSeconds), 'TOO_BUSY')
  if (isConflict(error)) return sendProblem(reply, 'DATABASE_AWAY', { detail: 'the same data are being changed' })
  if (isUnavailable(error)) return sendProblem(reply, 'DATABASE_AWAY', { detail: 'PostgreSQL does not answer' })
  const code = errorCodeOf(error as FastifyError)
  if (code === 'INTERNAL') log.error({ err: error }, 'admin API request failed')
  if (leavesBodyUnread(code)) reply.header('connection', 'close')
  return sendProblem(reply, code, { detail: details[code] })
}

/** PostgreSQL has not confirmed the change. */
export function sendUnknownOutcome(reply: FastifyReply): FastifyReply {
  const detail = 'PostgreSQL did not confirm the change, which may have been made or not: look before you try again'
  return sendProblem(reply, 'OUTCOME_UNKNOWN', { detail })
}
