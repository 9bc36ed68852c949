/** The admin API: who may, what its errors look like, and which routes it has. */

import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Devices } from '../../auth/devices/devices.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import type { Ranges } from '../../ingest/reading.ts'
import type { Log } from '../../store/log.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import type { Store } from '../../store/store.ts'
import { errorCodeOf, leavesBodyUnread, type ServerErrorCode } from '../http/errors.ts'
import { addJsonBody } from '../http/json-body.ts'
import { argumentsMax, hasTooManyArguments } from '../http/query-limits.ts'
import type { RouteFamily } from '../http/route-family.ts'
import type { TokenCheck } from './admin-token.ts'
import { registerContentFiles } from './content-files.ts'
import { registerDeadLetters } from './dead-letters.ts'
import { registerDevices } from './devices.ts'
import { registerErase } from './erase.ts'
import { createEraseJobs } from './erase-jobs.ts'
import { registerImport } from './import.ts'
import { createLateAudit } from './late-audit.ts'
import { sendProblem } from './problem.ts'
import { registerStatus } from './status.ts'

export interface AdminOptions {
  /** Knows the local admin token: whoever can read it in the data directory is an administrator. */
  isAdmin: TokenCheck
  devices: Devices
  ingest: Ingest
  store: Store
  log: Log
  dataDirectory: string
  /** Whether PostgreSQL was started here. */
  isPostgresManaged: boolean
  /** What an imported reading may hold, as for single readings. */
  ranges: Ranges
  aheadMsMax: number
}

export function adminFamily(options: AdminOptions): RouteFamily {
  const { isAdmin, devices, ingest, store, log, dataDirectory, isPostgresManaged, ranges, aheadMsMax } = options
  const audit = createLateAudit(store.postgres, log)
  const eraseJobs = createEraseJobs({ devices, ingest, store, log })

  /** The routes with JSON bodies; imports are streams and have a scope of their own. */
  function registerJson(scope: FastifyInstance): void {
    addJsonBody(scope)
    registerDevices(scope, devices)
    registerErase(scope, eraseJobs)
    registerDeadLetters(scope, { deadLetters: ingest.deadLetters, audit })
    registerStatus(scope, { devices, ingest, store, dataDirectory, isPostgresManaged })
  }

  function registerAll(scope: FastifyInstance): void {
    guard(scope, isAdmin)
    answerErrors(scope, log)
    scope.addHook('onReady', done => {
      eraseJobs.resume()
      done()
    })
    scope.addHook('onClose', () => eraseJobs.close())
    scope.register((json, _options, done) => {
      registerJson(json)
      done()
    })
    scope.register((streams, _options, done) => {
      registerImport(streams, { ingest, devices, ranges, aheadMsMax, audit })
      done()
    })
    scope.register((batches, _options, done) => {
      registerContentFiles(batches, store.postgres)
      done()
    })
  }

  return { prefix: '/api/admin', register: registerAll, refusePath: createPathRefusal(isAdmin) }
}

/** Before anything of the request is looked at, the path included: who is not let in learns nothing. */
function guard(scope: FastifyInstance, isAdmin: TokenCheck): void {
  scope.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store')
    return await (isAdmin(request.raw.rawHeaders) ? boundArguments(request, reply) : refuseStranger(reply))
  })
}

async function boundArguments({ originalUrl }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  if (!hasTooManyArguments(originalUrl)) return undefined
  const detail = `at most ${argumentsMax} arguments`
  return await sendProblem(reply.header('connection', 'close'), 'QUERY_INVALID', { detail })
}

function refuseStranger(reply: FastifyReply): FastifyReply {
  // The body stays unread, so the connection cannot be used again.
  reply.header('connection', 'close').header('www-authenticate', 'Bearer realm="admin"')
  const detail = 'send "Authorization: Bearer" with the token from secrets/admin-token in the data directory'
  return sendProblem(reply, 'UNAUTHORIZED', { detail })
}

/** For paths below the prefix that the router cannot read: they reach no route and no hook. */
function createPathRefusal(isAdmin: TokenCheck): NonNullable<RouteFamily['refusePath']> {
  return (request, reply, code) => {
    reply.header('cache-control', 'no-store')
    if (isAdmin(request.raw.rawHeaders)) sendProblem(reply, code === 414 ? 'URI_TOO_LONG' : 'BAD_REQUEST')
    else refuseStranger(reply)
  }
}

/** What the framework finds wrong before a route is reached. */
const details: Partial<Record<ServerErrorCode, string>> = {
  JSON_INVALID: 'the body is not JSON in UTF-8',
  TIMEOUT: 'the body did not come in time',
  MEDIA_TYPE_UNSUPPORTED: 'send application/json in UTF-8, not compressed',
  SENDING_TOO_MUCH: 'too many large answers are being sent',
}

function answerErrors(scope: FastifyInstance, log: Log): void {
  scope.setNotFoundHandler((_request, reply) => sendProblem(reply, 'NOT_FOUND'))
  scope.setErrorHandler((error: FastifyError, _request, reply) => {
    if (isUnavailable(error)) return sendProblem(reply, 'DATABASE_AWAY', { detail: 'PostgreSQL does not answer' })
    const code = errorCodeOf(error)
    if (code === 'INTERNAL') log.error({ err: error }, 'admin API request failed')
    if (leavesBodyUnread(code)) reply.header('connection', 'close')
    return sendProblem(reply, code, { detail: details[code] })
  })
}
