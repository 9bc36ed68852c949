/** `/device/{sn}/data/`, `/device/{sn}/data/{id}` and `/device/{sn}/latest`: reads data points of a station. */

import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Station } from '../../auth/stations/station.ts'
import { pointStation } from '../../query/analysed-device.ts'
import type { Condition } from '../../query/conditions/select-rows.ts'
import { pointColumnTypes } from '../../query/points/point-columns.ts'
import type { Points } from '../../query/points/points.ts'
import type { PointList } from '../../query/points/points-queries.ts'
import type { PointsFailure } from '../../query/points/points-run.ts'
import type { Log } from '../../store/log.ts'
import { disconnectSignalOf } from '../http/streamed-response.ts'
import { type AddPointsOptions, addPointsOperation } from './add-points.ts'
import { sendJsonBytes } from './answers.ts'
import { type AirQualityErrorCode, airQualityErrors, sendError } from './errors.ts'
import { type AirQualityOperation, type OperationInput, stationIn } from './operation.ts'
import { getLatestPoint, getPoint, listPoints } from './operations.ts'
import { type PointLines, pointFormat, typeOf } from './point-body.ts'
import { type ListQuery, readListQuery } from './query/list-query.ts'
import { metaOf } from './query/paging.ts'

export interface PointsOptions extends AddPointsOptions {
  points: Points
  log: Log
}

export function pointOperations(options: PointsOptions): AirQualityOperation[] {
  const { points, log } = options

  async function list(asked: OperationInput, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const parsed = readListQuery(asked.query, pointColumnTypes, 'id')
    if (!parsed.ok) return sendError(reply, 'BAD_REQUEST', parsed.message)
    const format = pointFormat(request.headers.accept, asked.query.get('format'))
    if (format === undefined) return sendError(reply, 'FORMAT_INVALID')
    const bound = readBound(asked.query.get('until'))
    const pointList = pointListOf(stationIn(asked), parsed.value, bound)
    reply.header('vary', 'Accept')
    if (format === 'json') return await sendPage(asked, parsed.value, pointList, bound, request, reply)
    return await sendLines(pointList, format, request, reply)
  }

  async function sendPage(
    asked: OperationInput,
    { paging, kept }: ListQuery,
    pointList: PointList,
    bound: number | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const answer = await points.page({ ...pointList, ...paging }, disconnectSignalOf(reply))
    if (!answer.ok) return sendFailure(reply, answer)
    const { total, lastId } = answer
    // Points that arrive during a walk through several pages are left out.
    const until = total > paging.perPage ? String(bound ?? lastId) : undefined
    const meta = metaOf({ ...paging, url: asked.url, kept: { ...kept, until }, total })
    const start = Buffer.from(`{"meta":${JSON.stringify(meta)},"data":[`)
    return sendJsonBytes(request, reply, Buffer.concat([start, answer.points, Buffer.from(']}')]))
  }

  async function sendLines(
    pointList: PointList,
    format: PointLines,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const answer = await points.lines(pointList, format, disconnectSignalOf(reply))
    if (!answer.ok) return sendFailure(reply, answer)
    reply.header('content-type', typeOf[format]).header('cache-control', 'private, no-cache')
    if (request.method === 'HEAD') return reply.send(Readable.from([]))
    const lines = Readable.from(answer.pieces, { objectMode: false })
    // The response has begun, so it is cut off to report the error to the client.
    lines.on('error', error => log.warn({ err: error }, 'could not send all data points of a station'))
    return reply.send(lines)
  }

  async function get(asked: OperationInput, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { id } = request.params as { id: string }
    if (!/^\d{1,16}$/.test(id)) return sendError(reply, 'POINT_UNKNOWN')
    const answer = await points.point(pointStation(stationIn(asked)), Number(id), disconnectSignalOf(reply))
    if (!answer.ok) return sendFailure(reply, answer)
    const { point } = answer
    return point.length === 0 ? sendError(reply, 'POINT_UNKNOWN') : sendJsonBytes(request, reply, Buffer.from(point))
  }

  async function latest(asked: OperationInput, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const answer = await points.latest(pointStation(stationIn(asked)), disconnectSignalOf(reply))
    if (!answer.ok) return sendFailure(reply, answer)
    return sendJsonBytes(request, reply, Buffer.from(answer.point.length === 0 ? '{}' : answer.point))
  }

  return [
    { ...listPoints, handle: list },
    addPointsOperation(options),
    { ...getPoint, handle: get },
    { ...getLatestPoint, handle: latest },
  ]
}

/** `bound` is the largest id of a walk. */
function pointListOf(station: Station, { conditions, order, limit }: ListQuery, bound: number | undefined): PointList {
  const bounded = bound === undefined ? conditions : [...conditions, below(bound)]
  return { station: pointStation(station), conditions: bounded, order, limit }
}

/** Largest id of a walk. Other texts are ignored. */
function readBound(text: string | null): number | undefined {
  return text !== null && /^\d{1,16}$/.test(text) ? Number(text) : undefined
}

function below(id: number): Condition {
  return { column: 'id', operator: 'le', values: [id] }
}

const errors = {
  DATABASE_AWAY: 'DATABASE_AWAY',
  TIMED_OUT: 'TIMED_OUT',
  QUEUE_FULL: 'QUEUE_FULL',
  TOO_LARGE: 'TOO_MANY_POINTS',
  MEAN_UNBOUNDED: 'MEAN_UNBOUNDED',
  PAGE_UNKNOWN: 'PAGE_UNKNOWN',
  // The client has disconnected.
  CANCELLED: 'DATABASE_AWAY',
  CLOSING: 'DATABASE_AWAY',
  // Only logger days have this error.
  DATE_INVALID: 'BAD_REQUEST',
} as const satisfies Record<PointsFailure['code'], AirQualityErrorCode>

function sendFailure(reply: FastifyReply, failure: PointsFailure): FastifyReply {
  const code = errors[failure.code]
  const fault = code === 'DATABASE_AWAY' ? reply.server.databaseFault?.() : undefined
  return sendError(reply, code, fault && `${airQualityErrors[code].text}: ${fault}`)
}
