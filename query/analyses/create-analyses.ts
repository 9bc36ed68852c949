/** Serves the analyses: the inputs that an answer depends on, the time for which it is valid, and its pool. */

import { type AnalysedDevice, analysedDevice, type Station } from '../analysed-device.ts'
import { type Answer, answerOf } from '../cache/body.ts'
import type { Built, Serve } from '../cache/response-cache.ts'
import type { QueryLimits } from '../limits.ts'
import { allFromReadings } from '../questdb/hourly-sql.ts'
import type { RunQuery } from '../run-query.ts'
import type { UsRange } from '../task-context.ts'
import { type ComputationName, computationOf, computations, type HowOf } from './analyses.ts'
import { asOfMs, type How, newestUsOf, type PoolName } from './analysis.ts'

type Served = Answer | Promise<Answer>

/** `client` aborts when the client disconnects. */
type Serves<Name extends ComputationName> = (device: AnalysedDevice, how: HowOf<Name>, client: AbortSignal) => Served

export type Analyses = { readonly [Name in Exclude<ComputationName, 'compare'>]: Serves<Name> } & {
  compare(a: AnalysedDevice, b: AnalysedDevice, how: HowOf<'compare'>, client: AbortSignal): Served
  /** The units of the points of a range. Read again each time, so that the next read of the range agrees with them. */
  stationUnits(station: Station, range: UsRange, client: AbortSignal): Promise<Answer>
}

export interface AnalysesOptions {
  readonly pools: Readonly<Record<PoolName, RunQuery>>
  readonly serve: Serve
  readonly now: () => number
  readonly revision: (deviceNumber: number) => number
  /** The same for a series of points. */
  readonly pointsRevision: (series: number) => number
  readonly limits: QueryLimits
}

const minuteMs = 60_000
const usualMaxAgeSeconds = 5

export function createAnalyses(options: AnalysesOptions): Analyses {
  const { pools, serve, now, revision, pointsRevision, limits } = options

  function analyse(name: ComputationName, asked: readonly AnalysedDevice[], how: How, client: AbortSignal): Served {
    const devices = asked.map(analysedDevice)
    const { untilMs = minuteMs, maxAgeSeconds = usualMaxAgeSeconds } = computationOf(name)
    // An answer about the past is built once, until there are more readings.
    const nowMs = fullMinute(now())
    const untilNow = asOfMs(how.endMs, nowMs) < nowMs ? 'end' : Math.floor(now() / untilMs)
    const revisions = devices.flatMap(({ number, station }) => {
      return station === undefined ? revision(number) : station.series.map(one => pointsRevision(one.number))
    })
    return serve({
      // The key contains the whole registry entry, so that a change there shows at once.
      key: JSON.stringify([name, how, devices]),
      version: `${revisions.join()}@${untilNow}`,
      freshMs: Math.min(limits.staleMs, Math.max(limits.rebuildMs, ...devices.map(expectedMs))),
      staleMs: limits.staleMs,
      maxAgeSeconds: () => maxAgeSeconds,
      build: (askedAtMs, signal) => build(name, devices, how, fullMinute(askedAtMs), signal),
      client,
    })
  }

  async function build(
    name: ComputationName,
    [device, other]: readonly AnalysedDevice[],
    how: How,
    clockMs: number,
    signal: AbortSignal,
  ): Promise<Built> {
    // The clocks of devices may be this far ahead.
    const newestUs = newestUsOf(how.endMs, (now() + limits.aheadMs) * 1000)
    const asOf = { nowMs: asOfMs(how.endMs, clockMs), clockMs, newestUs }
    const query = { computation: name, device: device as AnalysedDevice, ...(other && { other }), ...how, ...asOf }
    const isStation = device?.station !== undefined
    const sinceMs = performance.now()
    let built: Built | undefined
    for (const pool of poolsOf(name, how)) {
      // Points are kept for ever.
      const queryOf = (sources: typeof allFromReadings) => {
        return { ...query, hourSources: isStation ? allFromReadings : sources }
      }
      built = await pools[pool]('analysis', queryOf, signal, sinceMs)
      if (!(built.ok && built.body === 'TOO_LARGE')) break
    }
    return built as Built
  }

  const names = Object.keys(computations) as ComputationName[]
  const methods = names.map(name => [
    name,
    (device: AnalysedDevice, how: How, client: AbortSignal) => analyse(name, [device], how, client),
  ])
  return {
    ...(Object.fromEntries(methods) as Omit<Analyses, 'compare' | 'stationUnits'>),
    compare: (a, b, how, client) => analyse('compare', [a, b], how, client),
    async stationUnits(station, { fromUs, toUs }, client) {
      const built = await pools.light('stationUnits', () => ({ station, fromUs, toUs }), client)
      return built.ok ? answerOf(built, 0, now()) : built
    },
  }
}

function poolsOf(name: ComputationName, how: How): readonly PoolName[] {
  const { pools } = computationOf(name)
  return typeof pools === 'function' ? pools(how) : pools
}

/** An answer cannot change more often than the device reports. */
function expectedMs({ expected_interval_seconds }: AnalysedDevice): number {
  return (expected_interval_seconds ?? 0) * 1000
}

function fullMinute(timeMs: number): number {
  return Math.floor(timeMs / minuteMs) * minuteMs
}
