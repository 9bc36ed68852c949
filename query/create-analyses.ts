/** Creates the analyses: the thread and the task of each. */

import { type AnalysesOptions, createAnalyse } from './analyse.ts'
import { analysedDevice } from './analysed-device.ts'
import type { Analyses } from './analyses.ts'
import { asOfMs, newestUsOf } from './asked-window.ts'
import { answerOf } from './cache/body.ts'
import { hourAnalyses, rangeAnalyses, sourcesOf } from './range-analyses.ts'

const hourMs = 3_600_000
/** Longer ones run in the analysis pool, so that light queries do not wait for them. */
const lightDaysMax = 31

export function createAnalyses(options: AnalysesOptions): Analyses {
  const { runQuery, runAnalysis, now, limits } = options
  /** The clocks of devices may be this far ahead. */
  const newestUs = () => (now() + limits.aheadMs) * 1000

  const analyse = createAnalyse(options)

  return {
    compare(one, other, how, client) {
      const [a, b] = [analysedDevice(one), analysedDevice(other)]
      const build = (nowMs: number, signal: AbortSignal) => {
        const asOf = { nowMs: asOfMs(how.endMs, nowMs), newestUs: newestUsOf(how.endMs, newestUs()) }
        return runQuery('compare', hourSources => ({ a, b, ...how, ...asOf, hourSources }), signal)
      }
      // It ends at the last reading, or at the hour when there is none.
      return analyse({ name: 'compare', devices: [a, b], how, untilMs: hourMs, build, client })
    },
    detail(one, how, client) {
      const device = analysedDevice(one)
      const build = (nowMs: number, signal: AbortSignal) => {
        const query = { device, ...how, nowMs: asOfMs(how.endMs, nowMs) }
        return runQuery('detail', sources => ({ ...query, hourSources: sourcesOf(device, sources) }), signal)
      }
      return analyse({ name: 'detail', devices: [device], how, build, client })
    },
    stats(one, how, client) {
      const device = analysedDevice(one)
      const build = (nowMs: number, signal: AbortSignal) => {
        const asOf = { nowMs: asOfMs(how.endMs, nowMs), newestUs: newestUsOf(how.endMs, newestUs()) }
        return runAnalysis('stats', () => ({ device, ...how, ...asOf }), signal)
      }
      // Its age goes on counting.
      return analyse({ name: 'stats', devices: [device], how, maxAgeSeconds: 0, build, client })
    },
    daily(one, how, client) {
      const device = analysedDevice(one)
      const build = async (nowMs: number, signal: AbortSignal) => {
        const query = () => ({ device, ...how, nowMs: asOfMs(how.endMs, nowMs) })
        const sinceMs = performance.now()
        const built = how.days > lightDaysMax ? undefined : await runQuery('daily', query, signal)
        // Even a few days may exceed a light query when the device reports every second.
        const isEnough = built !== undefined && !(built.ok && built.body === 'TOO_LARGE')
        return isEnough ? built : runAnalysis('daily', query, signal, sinceMs)
      }
      return analyse({ name: 'daily', devices: [device], how, build, client })
    },
    past(one, how, client) {
      const device = analysedDevice(one)
      const build = (nowMs: number, signal: AbortSignal) => {
        return runQuery('past', () => ({ device, ...how, nowMs: asOfMs(how.endMs, nowMs) }), signal)
      }
      return analyse({ name: 'past', devices: [device], how, build, client })
    },
    ...hourAnalyses(options, analyse),
    ...rangeAnalyses(options, analyse),
    stationLatest(one, how, client) {
      const device = analysedDevice(one)
      const build = (nowMs: number, signal: AbortSignal) => {
        return runQuery('stationLatest', () => ({ device, ...how, nowMs, newestUs: newestUs() }), signal)
      }
      return analyse({ name: 'stationLatest', devices: [device], how, build, client })
    },
    async stationUnits(station, { fromUs, toUs }, client) {
      const built = await runQuery('stationUnits', () => ({ station, fromUs, toUs }), client)
      return built.ok ? answerOf(built, 0, now()) : built
    },
  }
}
