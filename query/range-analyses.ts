/** Analyses of whole hours, and of all readings of a range. */

import type { Analyse, AnalysesOptions } from './analyse.ts'
import { type AnalysedDevice, analysedDevice } from './analysed-device.ts'
import type { Analyses, AnomaliesHow, CustomHow, ExcursionsHow, MomentHow, MsRange, WindowHow } from './analyses.ts'
import { type AskedWindow, asOfMs } from './asked-window.ts'
import type { Built } from './cache/response-cache.ts'
import { allFromReadings, type HourSources } from './questdb/hourly-sql.ts'
import type { HoursQuery, RangeQuery } from './task.ts'

const hourMs = 3_600_000
/** Default range of excursions. */
const excursionsMs = 7 * 24 * hourMs

/** Analyses of whole hours, which readings of the running hour change little. */
export function hourAnalyses(
  { runQuery, runAnalysis }: AnalysesOptions,
  analyse: Analyse,
): Pick<Analyses, 'changes' | 'normal' | 'unusual' | 'forecast' | 'domain'> {
  function byHour<How extends MomentHow>(name: keyof Analyses, run: AskHours<How>) {
    return (one: AnalysedDevice, how: How, client: AbortSignal) => {
      const device = analysedDevice(one)
      const build = (nowMs: number, signal: AbortSignal) => {
        const query = { device, ...how, nowMs: asOfMs(how.endMs, nowMs) }
        return run(sources => ({ ...query, hourSources: sourcesOf(device, sources) }), signal)
      }
      return analyse({ name, devices: [device], how, untilMs: hourMs, build, client })
    }
  }
  return {
    changes: byHour<WindowHow>('changes', (...asked) => runAnalysis('changes', ...asked)),
    normal: byHour<MomentHow>('normal', (...asked) => runQuery('normal', ...asked)),
    unusual: byHour<MomentHow>('unusual', (...asked) => runQuery('unusual', ...asked)),
    forecast: byHour<MomentHow>('forecast', (...asked) => runAnalysis('forecast', ...asked)),
    domain: byHour<WindowHow>('domain', (...asked) => runAnalysis('domain', ...asked)),
  }
}

export function rangeAnalyses(
  { runAnalysis }: AnalysesOptions,
  analyse: Analyse,
): Pick<Analyses, 'excursions' | 'anomalies'> {
  function inRange<How extends CustomHow>(
    name: keyof Analyses,
    rangeAt: (how: How, nowMs: number) => MsRange,
    run: AskRange<How>,
  ) {
    return (one: AnalysedDevice, how: How, client: AbortSignal) => {
      const device = analysedDevice(one)
      const build = (nowMs: number, signal: AbortSignal) => {
        return run(() => ({ device, ...how, ...rangeAt(how, nowMs), nowMs }), signal)
      }
      return analyse({ name, devices: [device], how, build, client })
    }
  }
  return {
    excursions: inRange<ExcursionsHow>('excursions', excursionsRange, (...asked) =>
      runAnalysis('excursions', ...asked),
    ),
    anomalies: inRange<AnomaliesHow>('anomalies', rangeOf, (...asked) => runAnalysis('anomalies', ...asked)),
  }
}

function excursionsRange({ range }: ExcursionsHow, nowMs: number): MsRange {
  const endMs = asOfMs(range?.endMs, nowMs)
  return { startMs: Math.min(range?.startMs ?? endMs - excursionsMs, endMs), endMs }
}

function rangeOf({ days, ...asked }: AskedWindow, nowMs: number): MsRange {
  const endMs = asOfMs(asked.endMs, nowMs)
  return { startMs: Math.min(asked.startMs ?? endMs - days * 24 * hourMs, endMs), endMs }
}

type AskRange<How> = (queryOf: () => RangeQuery & Omit<How, 'startMs' | 'endMs'>, signal: AbortSignal) => Promise<Built>
type AskHours<How> = (queryOf: (sources: HourSources) => HoursQuery & How, signal: AbortSignal) => Promise<Built>

/** Points are kept for ever. */
export function sourcesOf({ station }: AnalysedDevice, ofReadings: HourSources): HourSources {
  return station === undefined ? ofReadings : allFromReadings
}
