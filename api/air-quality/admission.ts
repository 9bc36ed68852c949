/** Admits requests by their key and their rates, and answers failures of the parts behind them. */

import type { IncomingMessage } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { Keys } from '../../auth/keys/keys.ts'
import { isPassing } from '../../auth/passing-errors.ts'
import { createAuthRateLimit } from '../../auth/rate-limits.ts'
import { type KeyPrincipal, mayUse } from '../../auth/stations/permissions.ts'
import type { Stations } from '../../auth/stations/stations.ts'
import { bug } from '../../store/limits/bug.ts'
import type { ProcessCount } from '../../store/limits/token-buckets.ts'
import type { Log } from '../../store/log.ts'
import { OutcomeUnknown } from '../../store/postgres/postgres-errors.ts'
import { readBasicCredentials } from '../http/credentials.ts'
import { errorCodeOf, leavesBodyUnread, type ServerErrorCode } from '../http/errors.ts'
import { argumentsMax, hasTooManyArguments } from '../http/parameters.ts'
import { hasBody } from '../http/request-body.ts'
import type { Rules, Scope } from '../http/route-family.ts'
import { type AirQualityErrorCode, airQualityErrors, sendError } from './errors.ts'
import type { AirQualityOperation, OperationInput } from './operation.ts'

type Authenticated = { ok: true; key: KeyPrincipal } | { ok: false; code: 'UNAUTHORIZED' | 'TOO_MANY_ATTEMPTS' }

interface AuthenticateOptions {
  keys: Pick<Keys, 'find'>
  nowMs: () => number
  /** Limit for one address. Further attempts have to wait. */
  failedAttemptsPerMinute: number
  /** Processes share the limits of an address. */
  processes?: ProcessCount
}

export function createAuthenticate(options: AuthenticateOptions): (request: FastifyRequest) => Promise<Authenticated> {
  const { keys, nowMs, failedAttemptsPerMinute, processes } = options
  const authRateLimit = createAuthRateLimit(failedAttemptsPerMinute, nowMs, processes)
  return async ({ raw, headers, ip }) => {
    const credentials = readBasicCredentials(raw.rawHeaders)
    const key = credentials && (await keys.find(credentials.name))
    if (key !== undefined) return { ok: true, key }
    // Some clients send their key only after a challenge, so a missing key is not a failed attempt.
    const isGuess = headers.authorization !== undefined
    return { ok: false, code: isGuess && authRateLimit.isExceeded(ip) ? 'TOO_MANY_ATTEMPTS' : 'UNAUTHORIZED' }
  }
}

interface AdmissionOptions {
  stations: Pick<Stations, 'find'>
  authenticate: (request: FastifyRequest) => Promise<Authenticated>
  /** True if the request came by HTTPS or may come without. */
  isSecure: (request: FastifyRequest) => boolean
  /** Address under which the client reaches the service. */
  addressOf: (request: FastifyRequest) => string
}

export const prefix = '/api/v1.0'
const asked = new WeakMap<IncomingMessage, OperationInput>()
const operations = new WeakMap<IncomingMessage, AirQualityOperation>()

export function airQualityRules(options: AdmissionOptions): Rules<AirQualityOperation> {
  return {
    head: 'handled',
    onRequest: operation => (request, reply) => admit(operation, options, request, reply),
    handler: operation => (request, reply) => {
      const known = asked.get(request.raw)
      if (known === undefined) throw bug(`${operation.path} is handled for a request that was not admitted`)
      return operation.handle(known, request, reply)
    },
    refuseMethod(request, reply, allowed, [operation]) {
      if (operation === undefined) throw bug('a path has no operation')
      const refused = checkAddress(operation, options, request, reply)
      if (refused !== undefined) return refused
      reply.header('allow', [...allowed, 'OPTIONS'].join(', '))
      return request.method === 'OPTIONS' ? reply.code(200).send() : sendError(reply, 'METHOD_NOT_ALLOWED')
    },
  }
}

/** Answers a request that is refused. A returned reply means that the answer is sent. */
async function admit(
  operation: AirQualityOperation,
  options: AdmissionOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  operations.set(request.raw, operation)
  const refused = checkAddress(operation, options, request, reply)
  if (refused !== undefined) return await refused
  if (hasTooManyArguments(request.originalUrl)) {
    return await sendError(reply, 'BAD_REQUEST', `at most ${argumentsMax} arguments`)
  }
  const known = await identify(operation, options, request)
  if ('code' in known) {
    operation.onRefused?.(request, known.key, airQualityErrors[known.code].text)
    return await sendError(reply, known.code)
  }
  asked.set(request.raw, known)
  reply.removeHeader('connection')
  return undefined
}

/** Notes errors of the framework or a parser. */
function noteFailure(request: FastifyRequest, code: AirQualityErrorCode): void {
  const key = asked.get(request.raw)?.key
  operations.get(request.raw)?.onRefused?.(request, key, airQualityErrors[code].text)
}

/** Checks the address alone, for any principal. */
function checkAddress(
  { slash, onRefused }: AirQualityOperation,
  { isSecure }: AdmissionOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | undefined {
  // The body stays unread until the key is authorized, so the connection cannot be used again.
  if (hasBody(request.raw)) reply.header('connection', 'close')
  if (!isSecure(request)) {
    onRefused?.(request, undefined, airQualityErrors.HTTPS_REQUIRED.text)
    return sendError(reply, 'HTTPS_REQUIRED')
  }
  const { originalUrl } = request
  const pathname = pathOf(originalUrl)
  const isSlashed = pathname.endsWith('/')
  if (slash === 'none' && isSlashed) return sendError(reply, 'NOT_FOUND')
  if (slash !== 'required' || isSlashed) return undefined
  const location = `${pathname}/${originalUrl.slice(pathname.length)}`
  return reply.code(308).header('location', location).send()
}

function pathOf(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? url : url.slice(0, at)
}

interface NotAdmitted {
  code: AirQualityErrorCode
  /** Set for a valid credential. */
  key?: KeyPrincipal
}

async function identify(
  operation: AirQualityOperation,
  options: AdmissionOptions,
  request: FastifyRequest,
): Promise<OperationInput | NotAdmitted> {
  const { stations, authenticate, addressOf } = options
  const { permission } = operation
  const authenticated = await authenticate(request)
  if (!authenticated.ok) return { code: authenticated.code }
  const { key } = authenticated
  if (!mayUse(permission, key)) return { code: 'FORBIDDEN', key }
  const { sn } = request.params as { sn?: string }
  const station = sn === undefined ? undefined : await stations.find(sn)
  if (sn !== undefined && station === undefined) return { code: 'STATION_UNKNOWN', key }
  if (station !== undefined && !mayUse(permission, key, station)) return { code: 'FORBIDDEN', key }
  const address = addressOf(request)
  const pathname = pathOf(request.originalUrl)
  const query = new URLSearchParams(request.originalUrl.slice(pathname.length))
  async function refusal(): Promise<AirQualityErrorCode | undefined> {
    const now = await identify(operation, options, request)
    if ('code' in now) return now.code
    // A new station with the same sn is not the addressed one.
    return now.station?.id === station?.id ? undefined : 'STATION_UNKNOWN'
  }
  return { key, station, base: `${address}${prefix}`, url: `${address}${pathname}`, query, refusal }
}

export function answerErrors(scope: Scope, log: Log): void {
  scope.setErrorHandler((error: FastifyError, request, reply) => sendFailure(request, reply, error, log))
  scope.setNotFoundHandler(({ raw }, reply) => {
    // The body stays unread, so the connection cannot be used again.
    if (hasBody(raw)) reply.header('connection', 'close')
    return sendError(reply, 'NOT_FOUND')
  })
}

function sendFailure(request: FastifyRequest, reply: FastifyReply, error: FastifyError, log: Log): FastifyReply {
  const code = codeOf(error)
  noteFailure(request, code)
  if (code === 'INTERNAL') log.error({ err: error }, 'air-quality API request failed')
  if (isUnread(error)) reply.header('connection', 'close')
  return sendError(reply, code)
}

function codeOf(error: FastifyError): AirQualityErrorCode {
  if (error instanceof OutcomeUnknown) return 'OUTCOME_UNKNOWN'
  return isPassing(error) ? 'DATABASE_AWAY' : ownCodeOf(errorCodeOf(error))
}

function isUnread(error: FastifyError): boolean {
  return !(error instanceof OutcomeUnknown) && !isPassing(error) && leavesBodyUnread(errorCodeOf(error))
}

function ownCodeOf(code: ServerErrorCode): AirQualityErrorCode {
  return code in airQualityErrors ? (code as AirQualityErrorCode) : 'BAD_REQUEST'
}
