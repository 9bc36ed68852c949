/** `POST /device/{sn}/data/`: stores data points of a station and acknowledges them when they are on disk. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { KeyPrincipal } from '../../auth/stations/permissions.ts'
import type { Stations } from '../../auth/stations/stations.ts'
import type { PointsBodyReader } from '../../ingest/import/points-body.ts'
import type { PointsIngest } from '../../ingest/ingest.ts'
import type { Outcome } from '../../ingest/journal/outcome.ts'
import type { RejectionSource } from '../../ingest/rejections/rejection.ts'
import type { Rejections } from '../../ingest/rejections/rejections.ts'
import { unknownSender } from '../../store/limits/networks.ts'
import { invalidJson } from '../http/request-body.ts'
import { type AirQualityErrorCode, airQualityErrors, sendError } from './errors.ts'
import { type AirQualityOperation, type OperationInput, stationIn } from './operation.ts'
import { addPoints } from './operations.ts'
import { pointsMax } from './point-body.ts'

export interface AddPointsOptions {
  stations: Pick<Stations, 'noteData'>
  pointsIngest: Pick<PointsIngest, 'append' | 'clockUs'>
  pointsBodies: Pick<PointsBodyReader, 'read'>
  /** Times may be this far ahead of the clock. */
  aheadMsMax: number
  rejections: Pick<Rejections, 'add' | 'addLines'>
}

const outcomeErrors = {
  full: 'STORAGE_FULL',
  closing: 'CLOSING',
  unknown: 'STORAGE_FAILED',
} as const satisfies Record<Exclude<Outcome, 'stored'>, AirQualityErrorCode>

export function addPointsOperation(options: AddPointsOptions): AirQualityOperation {
  const { stations, pointsIngest, pointsBodies, aheadMsMax, rejections } = options

  function onRefused(request: FastifyRequest, key: KeyPrincipal | undefined, reason: string): void {
    rejections.add({ ...sourceOf(request, key), reason })
  }

  async function handle(asked: OperationInput, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const station = stationIn(asked)
    const { sn, series } = station
    const refuse = (code: AirQualityErrorCode, message: string = airQualityErrors[code].text) => {
      onRefused(request, asked.key, message)
      return sendError(reply, code, message)
    }
    const body = (request.body ?? new Uint8Array()) as Uint8Array
    const nowUs = pointsIngest.clockUs()
    const read = await pointsBodies.read({ body, sn, series, nowUs, aheadMsMax, pointsMax })
    if (read === 'busy') return refuse('TOO_MANY_BODIES')
    if (read.kind === 'no json') throw invalidJson()
    if (read.kind === 'refused') return refuse('BAD_REQUEST', read.message)
    const { records, stored, rejected, errors } = read
    if (stored > 0) {
      const refusal = await asked.refusal()
      if (refusal !== undefined) return refuse(refusal)
      const outcome = await pointsIngest.append(records)
      if (outcome !== 'stored') return refuse(outcomeErrors[outcome])
      stations.noteData(station, Math.floor(nowUs / 1000))
    }
    rejections.addLines(sourceOf(request, asked.key), read)
    const start = Buffer.from(`{"stored":${stored},"rejected":${rejected},"errors":`)
    return reply
      .code(201)
      .header('content-type', 'application/json')
      .send(Buffer.concat([start, errors, Buffer.from('}')]))
  }

  return { ...addPoints, onRefused, handle }
}

/** The path names the station, which may not exist. */
function sourceOf({ ip, params }: FastifyRequest, key: KeyPrincipal | undefined): RejectionSource {
  const sender = key === undefined ? unknownSender(ip) : { name: `key ${key.keyId}`, isKnown: true }
  return { way: 'air_quality', sender, device: (params as { sn?: string }).sn }
}
