/** The admin API: who may, what its errors look like, and which routes it has. */

import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Devices } from '../../auth/devices/devices.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import type { Ranges } from '../../ingest/reading.ts'
import type { Log } from '../../store/log.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import type { Store } from '../../store/store.ts'
import { addJsonBody } from '../http/json-body.ts'
import { argumentsMax, hasTooManyArguments } from '../http/query-limits.ts'
import { createTokenCheck } from './admin-token.ts'
import { registerContentFiles } from './content-files.ts'
import { registerDeadLetters } from './dead-letters.ts'
import { registerDevices } from './devices.ts'
import { registerErase } from './erase.ts'
import { createEraseJobs } from './erase-jobs.ts'
import { registerImport } from './import.ts'
import { createLateAudit } from './late-audit.ts'
import { type Problem, retryAfterSeconds, sendProblem } from './problem.ts'
import { registerStatus } from './status.ts'

export const adminPrefix = '/api/admin'

export interface AdminOptions {
  /** The local admin token: whoever can read it in the data directory is an administrator. */
  adminToken: string
  devices: Devices
  ingest: Ingest
  store: Store
  log: Log
  dataDirectory: string
  /** Whether PostgreSQL was started here. */
  ownPostgres: boolean
  /** What an imported reading may hold, as for single readings. */
  ranges: Ranges
  aheadMsMax: number
}

export function registerAdmin(app: FastifyInstance, options: AdminOptions): void {
  const { adminToken, devices, ingest, store, log, dataDirectory, ownPostgres, ranges, aheadMsMax } = options
  const audit = createLateAudit(store.postgres, log)
  const eraseJobs = createEraseJobs({ devices, ingest, store, log })

  /** The routes with JSON bodies; imports are streams and have a scope of their own. */
  function registerJson(scope: FastifyInstance): void {
    addJsonBody(scope)
    registerDevices(scope, devices)
    registerErase(scope, eraseJobs)
    registerDeadLetters(scope, { deadLetters: ingest.deadLetters, audit })
    registerStatus(scope, { devices, ingest, store, dataDirectory, ownPostgres })
  }

  function registerAll(scope: FastifyInstance): void {
    guard(scope, adminToken)
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

  const plugin = (scope: FastifyInstance, _options: object, done: () => void) => {
    registerAll(scope)
    done()
  }
  app.register(plugin, { prefix: adminPrefix })
}

/** Before anything of the request is looked at, the path included: who is not let in learns nothing. */
function guard(scope: FastifyInstance, adminToken: string): void {
  const isAdmin = createTokenCheck(adminToken)
  scope.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store')
    return await (isAdmin(request.raw.rawHeaders) ? boundArguments(request, reply) : refuseStranger(reply))
  })
}

async function boundArguments({ originalUrl }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  if (!hasTooManyArguments(originalUrl)) return undefined
  const detail = `at most ${argumentsMax} arguments`
  return await sendProblem(reply.header('connection', 'close'), { status: 400, title: 'invalid query', detail })
}

function refuseStranger(reply: FastifyReply): FastifyReply {
  // The body stays unread, so the connection cannot be used again.
  reply.header('connection', 'close').header('www-authenticate', 'Bearer realm="admin"')
  const detail = 'send "Authorization: Bearer" with the token from secrets/admin-token in the data directory'
  return sendProblem(reply, { status: 401, title: 'unauthorized', detail })
}

export type PathRefusal = (request: FastifyRequest, reply: FastifyReply, problem: Problem) => void

/** For paths below the prefix that the router cannot read: they reach no route and no hook. */
export function createPathRefusal(adminToken: string): PathRefusal {
  const isAdmin = createTokenCheck(adminToken)
  return (request, reply, problem) => {
    reply.header('cache-control', 'no-store')
    if (isAdmin(request.raw.rawHeaders)) sendProblem(reply, problem)
    else refuseStranger(reply)
  }
}

/** What the framework finds wrong before a route is reached, in our words. */
const frameworkProblems: Record<number, Problem> = {
  400: { status: 400, title: 'invalid json', detail: 'the body is not JSON in UTF-8' },
  408: { status: 408, title: 'timeout', detail: 'the body did not come in time' },
  413: { status: 413, title: 'payload too large' },
  503: { status: 503, title: 'too busy', detail: 'too many large answers are being sent' },
  415: { status: 415, title: 'unsupported media type', detail: 'send application/json in UTF-8, not compressed' },
}

function answerErrors(scope: FastifyInstance, log: Log): void {
  scope.setNotFoundHandler((_request, reply) => sendProblem(reply, { status: 404, title: 'not found' }))
  scope.setErrorHandler((error: FastifyError, _request, reply) => {
    if (isUnavailable(error)) {
      const detail = 'PostgreSQL does not answer'
      return sendProblem(reply.header('retry-after', retryAfterSeconds), {
        ...{ status: 503, title: 'database away', detail },
      })
    }
    const status = error.statusCode ?? 500
    if (status >= 500 && status !== 503) log.error({ err: error }, 'a request of the admin API failed')
    // Something of the body may be unread.
    if (status === 408 || status === 413 || status === 415) reply.header('connection', 'close')
    const unnamed = { status, title: status >= 500 ? 'internal error' : 'bad request' }
    return sendProblem(reply, frameworkProblems[status] ?? unnamed)
  })
}
