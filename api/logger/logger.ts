/** Registers the routes of the logger API and writes all errors in one shape. */

import type { FastifyError } from 'fastify'
import type { Log } from '../../store/log.ts'
import { type ErrorEntry, errorCodeOf, leavesBodyUnread } from '../http/errors.ts'
import { hasParameters } from '../http/operation.ts'
import { createFamily, type PublishedFamily, type Scope } from '../http/route-family.ts'
import { LoggerError, type LoggerOperation, loggerErrors, loggerRules, sendError } from '../http/status-operations.ts'
import { type AnalysesOptions, analysesGroup } from '../read/analyses.ts'
import { type AnnotationReadOptions, annotationsGroup } from '../read/annotations.ts'
import { type ContactOptions, contactGroup } from '../read/contact.ts'
import { type EventsOptions, eventsGroup } from '../read/events/events.ts'
import { type FleetOptions, fleetGroup } from '../read/fleet/fleet.ts'
import { createRangeSender } from '../read/range-sender.ts'
import type { ReadAccess } from '../read/read-access.ts'
import { withReplicaHeader } from '../read/read-operation.ts'
import { type ReadingsOptions, readingsGroup } from '../read/readings.ts'
import { type ReadsOptions, readsGroup } from '../read/reads.ts'
import { type StationReadsOptions, stationsGroup } from '../read/stations/stations.ts'
import { type BatchOptions, batchGroup } from '../write/batch.ts'
import { type LogOptions, logGroup } from '../write/log.ts'

export interface LoggerOptions {
  log: Log
  access: ReadAccess
  ingest: LogOptions
  batch: BatchOptions
  reads: ReadsOptions & AnalysesOptions & { readings: ReadingsOptions }
  annotations: AnnotationReadOptions
  contacts: ContactOptions
  stations: StationReadsOptions
  live: FleetOptions
  events: EventsOptions
  /** Lag of the replica for reads; undefined with a single one. */
  behindSeconds?: (() => number) | undefined
}

const mediaTypeDetail = 'send Content-Type: application/json, and no Content-Encoding'

export function loggerFamily({
  log,
  access,
  ingest,
  batch,
  reads,
  annotations,
  contacts,
  stations,
  live,
  events,
  behindSeconds,
}: LoggerOptions): PublishedFamily<LoggerOperation> {
  const sendRange = createRangeSender(access, reads.readings)
  return createFamily<LoggerOperation>({
    prefix: '/api',
    tag: { name: 'logger', description: `${description}${access.isOpen ? openReads : privateReads}` },
    // Each group has its own scope, as bodies and permissions differ.
    groups: [
      logGroup(ingest),
      batchGroup(batch),
      withReplicaHeader(readsGroup(access, reads), behindSeconds),
      withReplicaHeader(analysesGroup(access, reads), behindSeconds),
      withReplicaHeader(readingsGroup(access, reads.readings, sendRange), behindSeconds),
      annotationsGroup(access, annotations),
      contactGroup(access, contacts),
      withReplicaHeader(stationsGroup(access, stations, sendRange), behindSeconds),
      fleetGroup(access, live),
      eventsGroup(access, events),
    ],
    rules: loggerRules,
    error: { schema: LoggerError },
    refusalsOf,
    securitySchemes: {
      device: { type: 'http', scheme: 'basic', description: 'The name and the password of a device.' },
    },
    prepare(scope) {
      answerErrors(scope, log)
      access.guard(scope)
    },
  })
}

const description =
  'Readings of devices, in and out. Every failure has a `status` other than `success`.' +
  ' `d` is local time on the clock of the service. '
const openReads = 'Everybody may read.'
const privateReads =
  'A device reads itself, a person the devices that they own, also by an API key with the scope read;' +
  ' viewers and administrators read all. A device of another account is answered like an unknown one.'

function refusalsOf(operation: LoggerOperation): ErrorEntry[] {
  const ofPaths = hasParameters(operation) ? (['BAD_REQUEST', 'URI_TOO_LONG'] as const) : []
  return [...(operation.refusals ?? []), 'INTERNAL' as const, ...ofPaths].map(code => loggerErrors[code])
}

function answerErrors(app: Scope, log: Log): void {
  app.setErrorHandler((error: FastifyError, _request, reply) => {
    const code = errorCodeOf(error)
    if (code === 'INTERNAL') log.error({ err: error }, 'logger API request failed')
    if (leavesBodyUnread(code)) reply.header('connection', 'close')
    return sendError(reply, code, code === 'MEDIA_TYPE_UNSUPPORTED' ? { detail: mediaTypeDetail } : {})
  })
}
