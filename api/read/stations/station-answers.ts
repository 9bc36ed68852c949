/** Answers about air-quality stations: the station, its newest points, and the units of a range. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Station } from '../../../auth/stations/station.ts'
import type { Stations } from '../../../auth/stations/stations.ts'
import { type AnalysedStation, analysedStation, pointStation, silentStation } from '../../../query/analysed-device.ts'
import { bodyOf, encodeBody } from '../../../query/cache/body.ts'
import type { Query } from '../../../query/query.ts'
import { sendBody } from '../../http/send-body.ts'
import { disconnectSignalOf } from '../../http/streamed-response.ts'
import type { RangeRequest, SendRange } from '../range-sender.ts'
import { refuse, type Sent, sendAnswer } from '../read-access.ts'
import { readReadingsParameters } from '../readings-parameters.ts'
import { stationRange } from './station-range.ts'
import type { PublicStation } from './station-shape.ts'
import { type DescribedMetrics, stationMetrics } from './station-subject.ts'

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
