/** The logger API: how its routes hang together, and its one way to write an error. */

import type { FastifyError, FastifyInstance } from 'fastify'
import type { Log } from '../../store/log.ts'
import { type AnalysesOptions, registerAnalyses } from './analyses.ts'
import { type LogOptions, registerLog } from './log.ts'
import { type ReadsOptions, registerReads } from './reads.ts'

export interface LoggerOptions {
  log: Log
  ingest: LogOptions
  reads: ReadsOptions & AnalysesOptions
}

/** What the framework finds wrong before a route is reached, in our words. */
const statusTexts: Record<number, string> = {
  400: 'invalid json',
  404: 'not found',
  408: 'timeout',
  413: 'payload too large',
  414: 'uri too long',
  415: 'unsupported media type',
  503: 'too many large answers at once',
}

const mediaTypeDetail = 'send Content-Type: application/json, and no Content-Encoding'

export function registerLogger(app: FastifyInstance, { log, ingest, reads }: LoggerOptions): void {
  app.setErrorHandler((error: FastifyError, _request, reply) => {
    const code = error.statusCode ?? 500
    if (code >= 500 && code !== 503) log.error({ err: error }, 'a request of the logger API failed')
    // Something of the body may be unread.
    if (code === 408 || code === 413 || code === 415) reply.header('connection', 'close')
    const status = statusTexts[code] ?? (code >= 500 ? 'internal error' : 'bad request')
    return reply.code(code).send(code === 415 ? { status, detail: mediaTypeDetail } : { status })
  })
  // Each in a scope of its own, for they differ in what they take and in whom they let read.
  const families = [
    (scope: FastifyInstance) => registerLog(scope, ingest),
    (scope: FastifyInstance) => registerReads(scope, reads),
    (scope: FastifyInstance) => registerAnalyses(scope, reads),
  ]
  for (const register of families) {
    app.register((scope, _options, done) => {
      register(scope)
      done()
    })
  }
}
