/** Makes the analyses: which thread makes each, and of what it is told. */

import { type AnalysesOptions, createAnalyse, createPlanOf, stationPlan } from './analyse.ts'
import { analysedDevice } from './analysed-device.ts'
import type { Analyses } from './analyses.ts'
import { asOfMs, newestUsOf } from './asked-window.ts'
import { answerOf } from './cache/body.ts'
import { hourAnalyses, rangeAnalyses } from './range-analyses.ts'
import type { NeededShards } from './shards/answering-shards.ts'

const hourMs = 3_600_000
/** Longer ones take a thread that light queries would wait for. */
const lightDaysMax = 31

export function createAnalyses(options: AnalysesOptions): Analyses {
  const { runQuery, runAnalysis, now, plan, limits } = options
  /** Readings may be that far ahead of our clock. */
  const newestUs = () => (now() + limits.aheadMs) * 1000

  const planOf = createPlanOf(plan)
  const analyse = createAnalyse(options)

  return {
    compare(one, other, how, client) {
      const [a, b] = [analysedDevice(one), analysedDevice(other)]
      const build = (nowMs: number, signal: AbortSignal) => {
        const plans = { a: planOf(a), b: planOf(b) }
        const places = { a: plans.a.places, b: plans.b.places }
        const hourSources = { a: plans.a.hourSources, b: plans.b.hourSources }
        const asOf = { nowMs: asOfMs(how.endMs, nowMs), newestUs: newestUsOf(how.endMs, newestUs()) }
        const query = { a, b, ...how, ...asOf, places, hourSources }
        return runQuery('compare', query, bothNeeded(plans.a.needed, plans.b.needed), signal)
      }
      // It ends at the last reading; when there is none, at the hour.
      return analyse({ name: 'compare', devices: [a, b], how, untilMs: hourMs, build, client })
    },
    detail(one, how, client) {
      const device = analysedDevice(one)
      const build = (nowMs: number, signal: AbortSignal) => {
        const { needed, ...reads } = planOf(device)
        return runQuery('detail', { device, ...how, nowMs: asOfMs(how.endMs, nowMs), ...reads }, needed, signal)
      }
      return analyse({ name: 'detail', devices: [device], how, build, client })
    },
    stats(one, how, client) {
      const device = analysedDevice(one)
      const build = (nowMs: number, signal: AbortSignal) => {
        const { needed, places } = planOf(device)
        const asOf = { nowMs: asOfMs(how.endMs, nowMs), newestUs: newestUsOf(how.endMs, newestUs()) }
        return runAnalysis('stats', { device, ...how, ...asOf, places }, needed, signal)
      }
      // The age in it goes on counting.
      return analyse({ name: 'stats', devices: [device], how, maxAgeSeconds: 0, build, client })
    },
    daily(one, how, client) {
      const device = analysedDevice(one)
      const build = async (nowMs: number, signal: AbortSignal) => {
        const { needed, places } = planOf(device)
        const query = { device, ...how, nowMs: asOfMs(how.endMs, nowMs), places }
        const sinceMs = performance.now()
        const built = how.days > lightDaysMax ? undefined : await runQuery('daily', query, needed, signal)
        // A few days may still be too much for a light query, when the device reports every second.
        const isEnough = built !== undefined && !(built.ok && built.body === 'TOO_LARGE')
        return isEnough ? built : runAnalysis('daily', query, needed, signal, sinceMs)
      }
      return analyse({ name: 'daily', devices: [device], how, build, client })
    },
    past(one, how, client) {
      const device = analysedDevice(one)
      const build = (nowMs: number, signal: AbortSignal) => {
        const { needed, places } = planOf(device)
        return runQuery('past', { device, ...how, nowMs: asOfMs(how.endMs, nowMs), places }, needed, signal)
      }
      return analyse({ name: 'past', devices: [device], how, build, client })
    },
    ...hourAnalyses(options, analyse, planOf),
    ...rangeAnalyses(options, analyse, planOf),
    stationLatest(one, how, client) {
      const device = analysedDevice(one)
      const build = (nowMs: number, signal: AbortSignal) => {
        const { needed, places } = planOf(device)
        return runQuery('stationLatest', { device, ...how, nowMs, newestUs: newestUs(), places }, needed, signal)
      }
      return analyse({ name: 'stationLatest', devices: [device], how, build, client })
    },
    async stationUnits(station, { fromUs, toUs }, client) {
      const built = await runQuery('stationUnits', { station, fromUs, toUs }, stationPlan.needed, client)
      return built.ok ? answerOf(built, 0, now()) : built
    },
  }
}

function bothNeeded(a: NeededShards, b: NeededShards): NeededShards {
  return {
    shards: [...new Set([...a.shards, ...b.shards])],
    behind: [...new Set([...(a.behind ?? []), ...(b.behind ?? [])])],
    isEachRead: a.isEachRead && b.isEachRead,
  }
}
