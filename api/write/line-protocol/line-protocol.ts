/** Registers the paths of InfluxDB by which its clients write readings. */

import type { FastifyError } from 'fastify'
import type { Devices } from '../../../auth/devices/devices.ts'
import type { Keys } from '../../../auth/keys/keys.ts'
import type { BulkFields } from '../../../auth/metrics/device-fields.ts'
import { isPassing } from '../../../auth/passing-errors.ts'
import type { AuthRateLimit } from '../../../auth/rate-limits.ts'
import type { Writers } from '../../../auth/writers.ts'
import type { EntityMetric } from '../../../ingest/formats/line-protocol-entities.ts'
import type { LineNames } from '../../../ingest/formats/line-protocol-names.ts'
import { createLineImporter, type LineImporter } from '../../../ingest/import/line-protocol-import.ts'
import type { Ingest } from '../../../ingest/ingest.ts'
import type { FairShare } from '../../../ingest/intake/rates.ts'
import type { Ranges, TimeLimits } from '../../../ingest/reading.ts'
import { ByteBudget } from '../../../store/limits/capacity.ts'
import type { Log } from '../../../store/log.ts'
import { errorCodeOf, leavesBodyUnread, type ServerErrorCode } from '../../http/errors.ts'
import { createFamily, type OperationGroup, type PublishedFamily, type Scope } from '../../http/route-family.ts'
import type { BulkMeter } from '../bulk-meter.ts'
import { type Bodies, createBodies } from './body.ts'
import { ErrorOfVersion, errorsOf, lineProtocolErrors, type SendError, type Version } from './errors.ts'
import { type LineProtocolOperation, rulesOf } from './operation.ts'
import { buckets, createDatabase, healthOperation, ping, readForm } from './start-up.ts'
import { writeOperation } from './write.ts'

export interface LineProtocolOptions extends TimeLimits {
  ingest: Pick<Ingest, 'append' | 'term' | 'stampUs' | 'clockUs' | 'status'>
  devices: Pick<Devices, 'seen'>
  bulkFields: BulkFields
  writers: Writers
  keys: Pick<Keys, 'find'>
  names: LineNames
  /** Metrics of the registry, if lines may be entities of Home Assistant. */
  entityMetrics?: (() => readonly EntityMetric[]) | undefined
  ranges: Ranges
  /** Limit for an uncompressed body. */
  bodyBytesMax: number
  authRateLimit: AuthRateLimit
  meter: BulkMeter
  fairShare: FairShare
  /** True if readings can be accepted. */
  isReady: () => boolean
  nowMs: () => number
  log: Log
}

/** Bounds the memory of all bodies together. */
const bodiesOfMaximumSize = 4

const tag = {
  name: 'line protocol',
  description: 'Readings in line protocol, by Telegraf and clients of InfluxDB 1.x and 2.x, and what these ask before.',
}
const securitySchemes = {
  influxToken: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: '`Token …` with an API key that has the scope ingest, or with `name:password` of a device.',
  },
}

/** One family for each prefix, as the InfluxDB paths share none. */
export function lineProtocolFamilies(options: LineProtocolOptions): PublishedFamily<LineProtocolOperation>[] {
  const importer = createLineImporter(options)
  const budget = new ByteBudget(bodiesOfMaximumSize * options.bodyBytesMax)

  function family(prefix: string, version: Version, ...groups: OperationGroup<LineProtocolOperation>[]) {
    return createFamily<LineProtocolOperation>({
      prefix,
      tag,
      groups,
      rules: rulesOf(errorsOf(version), options),
      error: { schema: ErrorOfVersion[2] },
      refusalsOf: ({ refusals = [] }) => [...refusals, 'INTERNAL' as const].map(code => lineProtocolErrors[code]),
      securitySchemes,
      prepare(scope) {
        answerErrors(scope, errorsOf(version), options.log)
        // Clients send many media types, and some none.
        scope.removeAllContentTypeParsers()
        scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
      },
      refusePath: (_request, reply, code) => {
        errorsOf(version)(reply, code === 414 ? 'URI_TOO_LONG' : 'NOT_FOUND')
      },
    })
  }

  const writes = (version: Version, path: string) => {
    return bodiesGroup(budget, options.bodyBytesMax, importer, bodies =>
      writeOperation(version, path, importer, bodies, options),
    )
  }

  const form = 'application/x-www-form-urlencoded'
  return [
    family('/write', 1, writes(1, '/')),
    family('/api/v2', 2, writes(2, '/write'), { operations: [buckets] }),
    family('/query', 1, {
      operations: [createDatabase],
      prepare: scope => void scope.addContentTypeParser(form, { parseAs: 'string', bodyLimit: 65_536 }, readForm),
    }),
    family('/ping', 1, { operations: [ping] }),
    family('/health', 2, { operations: [healthOperation(options.isReady)] }),
  ]
}

/** A group of one operation, which reads bodies into memory. */
export function bodiesGroup(
  budget: ByteBudget,
  bodyBytesMax: number,
  importer: Pick<LineImporter, 'close'>,
  operationOf: (bodies: Bodies) => LineProtocolOperation,
): OperationGroup<LineProtocolOperation> {
  const bodies = createBodies(bodyBytesMax, budget)
  const operation = operationOf(bodies)
  return {
    operations: [operation],
    prepare(scope) {
      bodies.prepare(scope)
      scope.addHook('onError', (request, _reply, error, done) => {
        operation.onRefused?.(request, codeOf(error))
        done()
      })
      // Imports have to close before the server waits for its requests.
      scope.addHook('preClose', () => importer.close())
    },
  }
}

export function answerErrors(scope: Scope, sendError: SendError, log: Log): void {
  scope.setNotFoundHandler((_request, reply) => sendError(reply.header('connection', 'close'), 'NOT_FOUND'))
  scope.setErrorHandler((error: FastifyError, _request, reply) => {
    const code = codeOf(error)
    if (code === 'INTERNAL') log.error({ err: error }, 'write of a bulk body failed')
    if (code !== 'DATABASE_AWAY' && leavesBodyUnread(code)) reply.header('connection', 'close')
    return sendError(reply, code)
  })
}

function codeOf(error: FastifyError): ServerErrorCode | 'DATABASE_AWAY' {
  return isPassing(error) ? 'DATABASE_AWAY' : errorCodeOf(error)
}
