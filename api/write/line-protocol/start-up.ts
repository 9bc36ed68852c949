/** What clients of InfluxDB ask before they write: whether the server is there, and whether it has their database. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { sendError } from './errors.ts'

/** Version 1.8 takes writes of both versions of the API, and has no organisations and no Flux. */
const influxdbVersion = '1.8.10'

export function answerPing(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply
    .header('x-influxdb-version', influxdbVersion)
    .header('x-influxdb-build', 'OSS')
    .header('cache-control', 'no-store')
  const { verbose } = request.query as Record<string, unknown>
  if (verbose === undefined || verbose === 'false' || verbose === '0') return reply.code(204).send()
  return reply.send({ version: influxdbVersion })
}

export function answerHealth(reply: FastifyReply, isReady: boolean): FastifyReply {
  const state = isReady
    ? { message: 'ready for queries and writes', status: 'pass' }
    : { message: 'not ready', status: 'fail' }
  reply.code(isReady ? 200 : 503).header('cache-control', 'no-store')
  return reply.send({ name: 'influxdb', ...state, checks: [], version: influxdbVersion })
}

const nameCharactersMax = 256

/** There is one bucket, under whatever name a client asks for it. */
export function answerBuckets({ query }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { name } = query as Record<string, unknown>
  const asked = typeof name === 'string' && name !== '' ? name.slice(0, nameCharactersMax).toWellFormed() : 'barograph'
  const bucket = { id: '0000000000000001', orgID: '0000000000000001', type: 'user', name: asked, retentionRules: [] }
  return reply.send({ links: { self: '/api/v2/buckets' }, buckets: [bucket] })
}

export function readForm(_request: FastifyRequest, body: string | Buffer, done: (error: null, form: unknown) => void) {
  done(null, new URLSearchParams(body.toString()))
}

/** In any case, and without flags, for the published contract says the same. */
export const createDatabaseForm = /^\s*[Cc][Rr][Ee][Aa][Tt][Ee] [Dd][Aa][Tt][Aa][Bb][Aa][Ss][Ee] /

/** A database need not be made, so making it succeeds; other statements are for a real InfluxDB. */
export function answerQuery({ query, body }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const inForm = body instanceof URLSearchParams ? body.get('q') : null
  const statement = inForm ?? (query as Record<string, unknown>)['q']
  if (typeof statement !== 'string') return sendError(reply, 1, 'INVALID', 'missing required parameter "q"')
  if (createDatabaseForm.test(statement)) return reply.send({ results: [{ statement_id: 0 }] })
  return sendError(reply, 1, 'INVALID', 'error parsing query: only CREATE DATABASE is known here')
}
