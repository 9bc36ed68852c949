/** The logger API: registers its routes, and writes all errors in one shape. */

import type { FastifyError, FastifyInstance } from 'fastify'
import type { Log } from '../../store/log.ts'
import { errorCodeOf, leavesBodyUnread } from '../http/errors.ts'
import type { RouteFamily } from '../http/route-family.ts'
import { sendError } from '../http/status-errors.ts'
import { type AnalysesOptions, registerAnalyses } from '../read/analyses.ts'
import { type EventsOptions, registerEvents } from '../read/events/events.ts'
import { type FleetOptions, registerFleet } from '../read/fleet/fleet.ts'
import type { ReadAccess } from '../read/read-access.ts'
import { requireSubjects } from '../read/read-route.ts'
import { type ReadingsOptions, registerReadings } from '../read/readings.ts'
import { type ReadsOptions, registerReads } from '../read/reads.ts'
import { type BatchOptions, registerBatch } from '../write/batch.ts'
import { type LogOptions, registerLog } from '../write/log.ts'

export interface LoggerOptions {
  log: Log
  access: ReadAccess
  ingest: LogOptions
  batch: BatchOptions
  reads: ReadsOptions & AnalysesOptions & { readings: ReadingsOptions }
  live: FleetOptions
  events: EventsOptions
}

const mediaTypeDetail = 'send Content-Type: application/json, and no Content-Encoding'

export function loggerFamily({ log, access, ingest, batch, reads, live, events }: LoggerOptions): RouteFamily {
  // Each in a scope of its own, for they differ in what they take and in whom they let read.
  const groups = [
    (scope: FastifyInstance) => registerLog(scope, ingest),
    (scope: FastifyInstance) => registerBatch(scope, batch),
    (scope: FastifyInstance) => registerReads(scope, access, reads),
    (scope: FastifyInstance) => registerAnalyses(scope, access, reads),
    (scope: FastifyInstance) => registerReadings(scope, access, reads.readings),
    (scope: FastifyInstance) => registerFleet(scope, access, live),
    (scope: FastifyInstance) => registerEvents(scope, access, events),
  ]
  return {
    prefix: '/api',
    register(app) {
      answerErrors(app, log)
      access.guard(app)
      requireSubjects(app)
      for (const register of groups) {
        app.register((scope, _options, done) => {
          register(scope)
          done()
        })
      }
    },
  }
}

function answerErrors(app: FastifyInstance, log: Log): void {
  app.setErrorHandler((error: FastifyError, _request, reply) => {
    const code = errorCodeOf(error)
    if (code === 'INTERNAL') log.error({ err: error }, 'logger API request failed')
    if (leavesBodyUnread(code)) reply.header('connection', 'close')
    return sendError(reply, code, code === 'MEDIA_TYPE_UNSUPPORTED' ? { detail: mediaTypeDetail } : {})
  })
}
