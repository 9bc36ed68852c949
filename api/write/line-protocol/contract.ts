/** The paths of InfluxDB, as a part of the published contract. */

import { z } from 'zod'
import type { Contract } from '../../docs/contract.ts'
import { type PublishedRoute, publishRoutes } from '../../docs/published-routes.ts'
import { type LineProtocolErrorCode, lineProtocolErrors, type Version } from './errors.ts'
import { createDatabaseForm } from './start-up.ts'
import { precisions } from './write.ts'

const tag = {
  name: 'line protocol',
  description: 'Readings in line protocol, by Telegraf and clients of InfluxDB 1.x and 2.x, and what these ask before.',
}

const ErrorOfVersion = {
  1: z.object({ error: z.string() }).meta({ id: 'LineProtocolError1' }),
  2: z.object({ code: z.string(), message: z.string() }).meta({ id: 'LineProtocolError2' }),
}

export function lineProtocolContract(): Contract {
  const routes = [
    writeRoute(1, '/write', 'write_v1'),
    writeRoute(2, '/api/v2/write', 'write_v2'),
    buckets,
    ping,
    query,
    health,
  ]
  return publishRoutes({
    ...{ tag, routes, error: { schema: ErrorOfVersion[2] }, securitySchemes },
    refusals: { all: errorsOf('INTERNAL'), paths: [] },
  })
}

const securitySchemes = {
  influxToken: {
    ...{ type: 'apiKey', in: 'header', name: 'Authorization' },
    description: '`Token …` with an API key that has the scope ingest, or with `name:password` of a device.',
  },
}

const refusals: readonly LineProtocolErrorCode[] = [
  ...(['INVALID', 'BODY_BROKEN', 'UNAUTHORIZED', 'FORBIDDEN', 'TIMEOUT', 'BODY_TOO_LARGE'] as const),
  ...(['MEDIA_TYPE_UNSUPPORTED', 'TOO_MANY_ATTEMPTS', 'TOO_MANY_POINTS', 'STORAGE_FAILED'] as const),
  ...(['TOO_MANY_BODIES', 'DATABASE_AWAY', 'STORAGE_FULL', 'CLOSING'] as const),
]

/** Other arguments, such as `bucket` and `db`, are ignored. */
function precisionOf(version: Version) {
  const names = [...precisions[version].keys()].filter(name => typeof name === 'string')
  const description = 'Of the timestamps; nanoseconds without it.'
  // For generators that make names of the ASCII characters alone.
  const varnames = names.map(name => codeNames[name] ?? name)
  return z.object({
    precision: z.enum(names).optional().meta({ description, 'x-enum-varnames': varnames }),
  })
}

const codeNames: Record<string, string> = { '': 'default', µ: 'micro' }

function writeRoute(version: Version, path: string, name: string): PublishedRoute {
  return {
    ...{ method: 'post', path, name, summary: `Store points, as InfluxDB ${version}.x` },
    description:
      'Answered when all of them are on disk. A partial write is a 400 that names the lines that are not stored.',
    credentials: ['influxToken', 'device', 'bearerKey'],
    parameters: { query: precisionOf(version) },
    // Version 1 takes a body without points.
    body: { text: ['text/plain'], isOptional: version === 1 },
    success: { status: 204, description: 'All points are on disk' },
    refusals: errorsOf(...refusals),
    error: ErrorOfVersion[version],
  }
}

const Bucket = z.object({
  ...{ id: z.string(), orgID: z.string(), type: z.literal('user'), name: z.string() },
  retentionRules: z.array(z.unknown()).max(0),
})

const buckets: PublishedRoute = {
  ...{ method: 'get', path: '/api/v2/buckets', name: 'list_buckets', summary: 'The bucket, by whatever name' },
  credentials: ['influxToken', 'bearerKey'],
  parameters: { query: z.object({ name: z.string().optional() }) },
  success: {
    ...{ status: 200, description: 'One bucket' },
    json: z.object({ links: z.object({ self: z.string() }), buckets: z.array(Bucket) }).meta({ id: 'BucketList' }),
  },
  refusals: errorsOf('UNAUTHORIZED', 'FORBIDDEN', 'TOO_MANY_ATTEMPTS', 'DATABASE_AWAY'),
}

const ping: PublishedRoute = {
  ...{ method: 'get', path: '/ping', name: 'ping', summary: 'Whether the server is there' },
  parameters: { query: z.object({ verbose: z.string().optional().meta({ description: 'true asks for a body' }) }) },
  success: {
    ...{ status: 200, description: 'It is, with verbose=true' },
    json: z.object({ version: z.string() }).meta({ id: 'LineProtocolVersion' }),
  },
  others: { 204: { description: 'It is' } },
  refusals: [],
  error: ErrorOfVersion[1],
}

const Results = z.object({ results: z.array(z.object({ statement_id: z.int() })) }).meta({ id: 'LineProtocolResults' })

const query: PublishedRoute = {
  ...{ method: 'post', path: '/query', name: 'create_database', summary: 'Create a database, which is there already' },
  description: 'Other statements are refused.',
  credentials: ['influxToken', 'device', 'bearerKey'],
  parameters: {
    query: z.object({ q: z.string().regex(createDatabaseForm).meta({ description: 'CREATE DATABASE and a name' }) }),
  },
  success: { status: 200, description: 'It is there', json: Results },
  refusals: errorsOf('INVALID', 'UNAUTHORIZED', 'FORBIDDEN', 'TOO_MANY_ATTEMPTS', 'DATABASE_AWAY'),
  error: ErrorOfVersion[1],
}

const Health = z
  .object({
    ...{ name: z.literal('influxdb'), message: z.string(), status: z.enum(['pass', 'fail']) },
    ...{ checks: z.array(z.unknown()), version: z.string() },
  })
  .meta({ id: 'LineProtocolHealth' })

const health: PublishedRoute = {
  ...{
    method: 'get',
    path: '/health',
    name: 'influxdb_health',
    summary: 'Whether points are taken, as InfluxDB tells',
  },
  success: { status: 200, description: 'They are', json: Health },
  others: { 503: { description: 'They are not', json: Health } },
  refusals: [],
}

function errorsOf(...codes: readonly LineProtocolErrorCode[]) {
  return codes.map(code => lineProtocolErrors[code])
}
