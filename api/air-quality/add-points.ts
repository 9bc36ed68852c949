/** `POST /device/{sn}/data/`: data points of a station, acknowledged when they are on disk. */

import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Station } from '../../auth/stations/station.ts'
import type { Stations } from '../../auth/stations/stations.ts'
import type { PointsIngest } from '../../ingest/ingest.ts'
import type { Outcome } from '../../ingest/journal/outcome.ts'
import type { PointCheck } from '../../ingest/point.ts'
import { encodePoints, type SeriesPoint } from '../../ingest/points-table.ts'
import { operations } from './contract/operations.ts'
import { type AirQualityErrorCode, sendError } from './errors.ts'
import { type Asked, type Operation, stationIn } from './paths.ts'
import { pointsMax } from './point-body.ts'

export interface AddPointsOptions {
  stations: Pick<Stations, 'noteData'>
  pointsIngest: Pick<PointsIngest, 'append' | 'clockUs'>
  pointCheck: PointCheck
}

interface Rejected {
  index: number
  message: string
}

/** 400 bytes for each point. */
const bodyBytesMax = 4_000_000

const outcomeErrors = {
  full: 'STORAGE_FULL',
  closing: 'CLOSING',
  unknown: 'STORAGE_FAILED',
} as const satisfies Record<Exclude<Outcome, 'stored'>, AirQualityErrorCode>

export function addPointsOperation({ stations, pointsIngest, pointCheck }: AddPointsOptions): Operation {
  async function handle(asked: Asked, { body }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const station = stationIn(asked)
    if (Array.isArray(body) && (body.length === 0 || body.length > pointsMax)) {
      return sendError(reply, 'BAD_REQUEST', `an array must hold 1 to ${pointsMax} data points`)
    }
    const nowUs = pointsIngest.clockUs()
    const { points, errors } = await readPoints(Array.isArray(body) ? body : [body], station, pointCheck, nowUs)
    if (!Array.isArray(body) && errors[0] !== undefined) return sendError(reply, 'BAD_REQUEST', errors[0].message)
    if (points.length > 0) {
      const outcome = await pointsIngest.append(encodePoints(points))
      if (outcome !== 'stored') return sendError(reply, outcomeErrors[outcome])
      stations.noteData(station, Math.floor(nowUs / 1000))
    }
    const answer = { stored: points.length, rejected: errors.length, errors }
    return reply
      .code(201)
      .header('content-type', 'application/json')
      .send(Buffer.from(JSON.stringify(answer)))
  }

  return { permission: 'points.add', published: operations.addPoints, bodyBytesMax, handle }
}

/** They take about a millisecond; others have their turn between. */
const pointsPerTurn = 500

/** In the order of the request: of two points with one key the later one stays. */
async function readPoints(
  elements: readonly unknown[],
  station: Station,
  check: PointCheck,
  nowUs: number,
): Promise<{ points: SeriesPoint[]; errors: Rejected[] }> {
  const points: SeriesPoint[] = []
  const errors: Rejected[] = []
  for (const [index, element] of elements.entries()) {
    if (index > 0 && index % pointsPerTurn === 0) await turn()
    const point = readPoint(element, station, check, nowUs)
    if (typeof point === 'string') errors.push({ index, message: point })
    else points.push(point)
  }
  return { points, errors }
}

/** Or a sentence that says what is wrong. */
function readPoint(element: unknown, { sn, series }: Station, check: PointCheck, nowUs: number): SeriesPoint | string {
  if (!isObject(element)) return 'a data point must be an object'
  // A point as it was read names its station.
  if (element['sn'] !== undefined && element['sn'] !== sn) return `sn: must be ${sn}, as in the path`
  const checked = check(element, nowUs / 1000)
  if (!checked.ok) {
    return Object.entries(checked.errors)
      .map(([field, reason]) => `${field}: ${reason}`)
      .join('; ')
  }
  const { timestampMs, parameter, unit, value } = checked.point
  const numbers: ReadonlyMap<string, number> = series
  const number = numbers.get(parameter)
  if (number === undefined) return `parameter: must be one of ${[...series.keys()].join(', ')}`
  return { series: { number, symbol: unit }, values: { timestampMs, value, storedAtUs: nowUs } }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
