/** Answers about air-quality stations: the station, its metrics, and its readings of a range. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { isPassing } from '../../../auth/passing-errors.ts'
import type { AuthRateLimit } from '../../../auth/rate-limits.ts'
import { mayReadStation } from '../../../auth/stations/permissions.ts'
import type { Station } from '../../../auth/stations/station.ts'
import type { Stations } from '../../../auth/stations/stations.ts'
import { type AnalysedStation, analysedStation, pointStation, silentStation } from '../../../query/analysed-device.ts'
import { bodyOf, encodeBody } from '../../../query/cache/body.ts'
import type { Query } from '../../../query/query.ts'
import type { FindPrincipal } from '../../credentials/find-principal.ts'
import { sendBody } from '../../http/send-body.ts'
import type { LoggerErrorCode } from '../../http/status-operations.ts'
import { disconnectSignalOf } from '../../http/streamed-response.ts'
import type { RangeRequest, SendRange } from '../range-sender.ts'
import { refuse, type Sent, sendAnswer } from '../read-access.ts'
import type { AwaitedSubject } from '../read-subjects.ts'
import type { Reader } from '../readers.ts'
import { readReadingsParameters } from '../readings-parameters.ts'
import { type DescribedMetrics, stationMetrics } from './station-metrics.ts'
import { stationRange } from './station-range.ts'
import type { PublicStation } from './station-shape.ts'

export interface StationSubjectOptions {
  stations: Pick<Stations, 'find'>
  findPrincipal: FindPrincipal
  authRateLimit: AuthRateLimit
}

export function stationInPath(options: StationSubjectOptions): AwaitedSubject<Station> {
  const { stations, findPrincipal, authRateLimit } = options

  async function find(request: FastifyRequest, reader: Reader): Promise<Station | LoggerErrorCode> {
    if (!reader.readsStations) return reader.refusal
    const station = await stations.find((request.params as { sn: string }).sn)
    if (station?.private === false) return station
    // The lookup also runs for an unknown station, so that a credential's outcome does not reveal private stations.
    const principal = await findPrincipal(request.raw)
    if (station !== undefined && mayReadStation(principal, station)) return station
    const isGuess = principal === undefined && hasCredential(request)
    return isGuess && authRateLimit.isExceeded(request.ip) ? 'TOO_MANY_ATTEMPTS' : 'STATION_UNKNOWN'
  }

  return {
    of: 'station',
    parameters: [],
    async resolve(request, reader) {
      const found = await find(request, reader).catch((error: unknown) => {
        if (isPassing(error)) return 'DATABASE_AWAY' as const
        throw error
      })
      return typeof found === 'string' ? { ok: false, code: found } : { ok: true, about: found }
    },
  }
}

function hasCredential({ headers }: FastifyRequest): boolean {
  return headers.authorization !== undefined || headers['x-api-key'] !== undefined
}

export interface StationAnswersOptions {
  stations: Pick<Stations, 'lastDataMs'>
  metrics: DescribedMetrics
  query: Pick<Query, 'stationLatest' | 'stationUnits' | 'coded'>
  nowMs: () => number
}

/** A station changes seldom. */
const stationMaxAgeSeconds = 10

/** Subject of the shared analyses. */
export function createAnalysed(stations: StationAnswersOptions['stations']) {
  return (station: Station): AnalysedStation => {
    const hasPoints = stations.lastDataMs(station) !== null
    return analysedStation(station.id, hasPoints ? pointStation(station) : silentStation(station))
  }
}

export function createStationAnswers(options: StationAnswersOptions, sendRange: SendRange) {
  const { metrics, query, nowMs } = options
  const analysed = createAnalysed(options.stations)

  function describe(station: Station, request: FastifyRequest, reply: FastifyReply): Sent {
    const { sn, model, city, country, location, latitude, longitude, outdoors, timezone } = station
    const place = { city, country, location, latitude, longitude, outdoors, timezone }
    const text = JSON.stringify({ sn, model, ...place, private: station.private } satisfies PublicStation)
    const body = bodyOf(encodeBody(new TextEncoder().encode(text)))
    return sendBody(request, reply, body, stationMaxAgeSeconds, query.coded)
  }

  function latest(station: Station, request: FastifyRequest, reply: FastifyReply): Sent {
    const custom = stationMetrics(metrics, station, undefined)
    const asked = query.stationLatest(analysed(station), { custom }, disconnectSignalOf(reply))
    return sendAnswer(request, reply, asked, query.coded)
  }

  function units(station: Station, request: RangeRequest, reply: FastifyReply): Sent {
    const { start, end } = request.query
    const read = readReadingsParameters({ start, end }, undefined, nowMs() * 1000)
    if (!read.ok) return refuse(reply, 'PARAMETER_INVALID', read.status)
    const { fromUs, toUs } = read.asked
    const asked = query.stationUnits(analysed(station).station, { fromUs, toUs }, disconnectSignalOf(reply))
    return sendAnswer(request, reply, asked, query.coded)
  }

  function range(station: Station, request: RangeRequest, reply: FastifyReply): Sent {
    return sendRange(request, reply, ({ fromUs, toUs }, client) => {
      const asked = { fromUs, toUs, names: request.query['metrics'] }
      return stationRange({ ...options, analysed }, station, asked, client)
    })
  }

  return { describe, latest, units, range }
}
