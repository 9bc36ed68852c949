/** Sends answers, with an ETag. */

import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { parameters } from '../../auth/stations/station.ts'
import type { PointColumn } from '../../query/points/point-columns.ts'
import { pointUnits } from '../../store/tables.ts'
import { isKnownTo, matchesStrongly } from '../http/send-body.ts'
import { DeviceObject } from './device-object.ts'
import { airQualityErrors, sendError } from './errors.ts'
import { Meta } from './query/paging.ts'

export function sendResource(request: FastifyRequest, reply: FastifyReply, value: object): FastifyReply {
  return sendJsonBytes(request, reply, Buffer.from(JSON.stringify(value)))
}

/** Sends JSON that is encoded already. */
export function sendJsonBytes(request: FastifyRequest, reply: FastifyReply, body: Buffer): FastifyReply {
  const etag = `"${hash('sha256', body, 'base64url')}"`
  const { 'if-match': expected } = request.headers
  if (expected !== undefined && !matchesStrongly(etag, expected)) return sendError(reply, 'ETAG_DIFFERENT')
  reply.header('etag', etag).header('cache-control', 'private, no-cache')
  if (isKnownTo(request, etag)) return reply.code(304).send()
  return reply.header('content-type', 'application/json').send(body)
}

export const KeyCheck = z.object({ 'Authentication Check': z.literal('All good!') }).meta({ id: 'AirQualityKeyCheck' })

export const DeviceList = z.object({ meta: Meta, data: z.array(DeviceObject) }).meta({ id: 'AirQualityDeviceList' })
export const DeviceDropped = z
  .object({ 'device dropped': z.literal('success') })
  .meta({ id: 'AirQualityDeviceDropped' })

const utcTime = 'UTC without a zone designator; microseconds only if they are not zero.'
const mean = (minutes: number, least: number) =>
  z
    .number()
    .nullable()
    .meta({ description: `Mean of ${minutes} minutes; null with points of fewer than ${least} of them.` })

/** query/points/point-texts.ts writes them as text. */
const pointFields = {
  id: z.int().meta({ description: 'Kept when the point is sent again.' }),
  sn: z.string(),
  parameter: z.enum(parameters),
  unit: z.enum(pointUnits),
  timestamp: z.string().meta({ description: utcTime, examples: ['2016-05-30T02:20:00'] }),
  timestamp_local: z.iso.datetime({ offset: true }).meta({ description: 'In the time zone of the device.' }),
  last_updated: z.string().meta({ description: `When it was stored: ${utcTime}` }),
  value_1min: z.number().meta({ description: 'As it was sent.' }),
  value_15min: mean(15, 12),
  value_30min: mean(30, 23),
  value_60min: mean(60, 45),
} satisfies Record<PointColumn, z.ZodType>

export const DataPoint = z.object(pointFields).meta({ id: 'DataPoint' })
export const DataPointList = z.object({ meta: Meta, data: z.array(DataPoint) }).meta({ id: 'DataPointList' })
export const LatestDataPoint = z
  .union([DataPoint, z.object({})])
  .meta({ id: 'LatestDataPoint', description: 'An empty object when there is no point.' })

export const StoredDataPoints = z
  .object({
    stored: z.int(),
    rejected: z.int(),
    errors: z.array(z.object({ index: z.int().meta({ description: 'Position in the array.' }), message: z.string() })),
  })
  .meta({ id: 'StoredDataPoints' })

export const EmptyList = z.object({ meta: Meta, data: z.array(z.unknown()).max(0) }).meta({ id: 'AirQualityEmptyList' })
export const LogEntry = z.union([EmptyList, z.object({})]).meta({ id: 'AirQualityLogEntry' })

const errorIds = [...new Set(Object.values(airQualityErrors).map(({ id }) => id))]
export const AirQualityError = z
  .object({ id: z.enum(errorIds), message: z.string() })
  .meta({ id: 'AirQualityError', description: 'The id identifies the error for clients.' })
