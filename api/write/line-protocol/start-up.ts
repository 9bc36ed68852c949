/** Answers the requests of InfluxDB clients before they write: for the server and for their database. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { ErrorOfVersion, sendError } from './errors.ts'
import type { LineProtocolOperation } from './operation.ts'

/** Version 1.8 accepts writes of both versions of the API, and has no organisations and no Flux. */
const influxdbVersion = '1.8.10'

export const ping: LineProtocolOperation = {
  method: 'GET',
  path: '/',
  name: 'ping',
  summary: 'Ping of the server',
  parameters: { query: z.object({ verbose: z.string().optional().meta({ description: 'true asks for a body' }) }) },
  success: {
    status: 200,
    description: 'The server is up, with verbose=true',
    json: z.object({ version: z.string() }).meta({ id: 'LineProtocolVersion' }),
  },
  others: { 204: { description: 'The server is up' } },
  error: ErrorOfVersion[1],
  handle: answerPing,
}

function answerPing(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply
    .header('x-influxdb-version', influxdbVersion)
    .header('x-influxdb-build', 'OSS')
    .header('cache-control', 'no-store')
  const { verbose } = request.query as Record<string, unknown>
  if (verbose === undefined || verbose === 'false' || verbose === '0') return reply.code(204).send()
  return reply.send({ version: influxdbVersion })
}

const Health = z
  .object({
    name: z.literal('influxdb'),
    message: z.string(),
    status: z.enum(['pass', 'fail']),
    checks: z.array(z.unknown()),
    version: z.string(),
  })
  .meta({ id: 'LineProtocolHealth' })

export function healthOperation(isReady: () => boolean): LineProtocolOperation {
  return {
    method: 'GET',
    path: '/',
    name: 'influxdb_health',
    summary: 'Readiness for points, in the form of InfluxDB',
    success: { status: 200, description: 'Points are accepted', json: Health },
    others: { 503: { description: 'Points are refused', json: Health } },
    handle: (_request, reply) => answerHealth(reply, isReady()),
  }
}

function answerHealth(reply: FastifyReply, isReady: boolean): FastifyReply {
  const state = isReady
    ? { message: 'ready for queries and writes', status: 'pass' }
    : { message: 'not ready', status: 'fail' }
  reply.code(isReady ? 200 : 503).header('cache-control', 'no-store')
  return reply.send({ name: 'influxdb', ...state, checks: [], version: influxdbVersion })
}

const nameCharactersMax = 256

const Bucket = z.object({
  id: z.string(),
  orgID: z.string(),
  type: z.literal('user'),
  name: z.string(),
  retentionRules: z.array(z.unknown()).max(0),
})

export const buckets: LineProtocolOperation = {
  method: 'GET',
  path: '/buckets',
  name: 'list_buckets',
  summary: 'The bucket, under any name',
  credentials: ['influxToken', 'bearerKey'],
  parameters: { query: z.object({ name: z.string().optional() }) },
  success: {
    status: 200,
    description: 'One bucket',
    json: z.object({ links: z.object({ self: z.string() }), buckets: z.array(Bucket) }).meta({ id: 'BucketList' }),
  },
  refusals: ['UNAUTHORIZED', 'FORBIDDEN', 'TOO_MANY_ATTEMPTS', 'DATABASE_AWAY'],
  handle: answerBuckets,
}

/** The only bucket has any name that a client requests. */
function answerBuckets({ query }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { name } = query as Record<string, unknown>
  const asked = typeof name === 'string' && name !== '' ? name.slice(0, nameCharactersMax).toWellFormed() : 'barograph'
  const bucket = { id: '0000000000000001', orgID: '0000000000000001', type: 'user', name: asked, retentionRules: [] }
  return reply.send({ links: { self: '/api/v2/buckets' }, buckets: [bucket] })
}

export function readForm(_request: FastifyRequest, body: string | Buffer, done: (error: null, form: unknown) => void) {
  done(null, new URLSearchParams(body.toString()))
}

/** Ignores case without flags, as the published contract needs the same pattern. */
const createDatabaseForm = /^\s*[Cc][Rr][Ee][Aa][Tt][Ee] [Dd][Aa][Tt][Aa][Bb][Aa][Ss][Ee] /

const Results = z.object({ results: z.array(z.object({ statement_id: z.int() })) }).meta({ id: 'LineProtocolResults' })

export const createDatabase: LineProtocolOperation = {
  method: 'POST',
  path: '/',
  name: 'create_database',
  summary: 'Create a database, without effect',
  description: 'Other statements are refused.',
  credentials: ['influxToken', 'device', 'bearerKey'],
  parameters: {
    query: z.object({ q: z.string().regex(createDatabaseForm).meta({ description: 'CREATE DATABASE and a name' }) }),
  },
  success: { status: 200, description: 'The database exists', json: Results },
  refusals: ['INVALID', 'UNAUTHORIZED', 'FORBIDDEN', 'TOO_MANY_ATTEMPTS', 'DATABASE_AWAY'],
  error: ErrorOfVersion[1],
  handle: answerQuery,
}

/** Creating a database succeeds without effect. Other statements need a real InfluxDB. */
function answerQuery({ query, body }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const inForm = body instanceof URLSearchParams ? body.get('q') : null
  const statement = inForm ?? (query as Record<string, unknown>)['q']
  if (typeof statement !== 'string') return sendError(reply, 1, 'INVALID', 'missing required parameter "q"')
  if (createDatabaseForm.test(statement)) return reply.send({ results: [{ statement_id: 0 }] })
  return sendError(reply, 1, 'INVALID', 'error parsing query: only CREATE DATABASE is known here')
}
