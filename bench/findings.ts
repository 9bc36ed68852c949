/**
 * Processor time of findings: for one device beside the rest of its `stats_data`, with 30 days of minutes. For 1,000
 * devices, findings from hourly means and the check for unusual gauges are compared with one cold `stats_data`. There
 * is no database. Figures are medians of turns.
 *
 * Usage: node bench/findings.ts [--turns 15] [--devices 1000]
 */

import { parseArgs } from 'node:util'
import { median } from 'simple-statistics'
import { recordReliability } from '../analytics/reliability/reliability-record.ts'
import { createLocalTime } from '../analytics/time/local-time.ts'
import { unusualOf } from '../analytics/unusual/unusual.ts'
import { batteryMetrics, columnBatteries } from '../query/answers/fleet-batteries.ts'
import { MeansTable } from '../query/answers/fleet-reads.ts'
import { buildInsights, comparedMetrics, comparedQuarters, outliersOf } from '../query/answers/insights-answer.ts'
import { batteryDays } from '../query/findings/known-battery.ts'
import type { InsightsEntry } from '../query/insights-fleet.ts'
import { findingsOf, qualityOf } from '../query/stats/findings.ts'
import { lastSeenOf } from '../query/stats/live.ts'
import { buildStats, type StatsInput } from '../query/stats/stats-answer.ts'
import { windowOf } from '../query/stats/window.ts'
import { nothingKnown, plainDevice, plainEntry } from '../test/support/plain-device.ts'
import { createBounds } from './bounds.ts'
import { createUniform, madeColumns } from './made-series.ts'
import { spread } from './measure.ts'

const { values: options } = parseArgs({
  options: { turns: { type: 'string', default: '15' }, devices: { type: 'string', default: '1000' } },
})
const turns = Number(options.turns)
const devices = Number(options.devices)
/** The first turns let the compiler find hot code. */
const warmUps = 5
const hourMs = 3_600_000
const withFindingsMax = 1.25
const fleetMax = 20

const bounds = createBounds()
const local = createLocalTime('Europe/Berlin')
const nowMs = Date.UTC(2026, 9, 20)

function inputOf(number: number): StatsInput {
  const days = 31
  const series = madeColumns({ device: { number, symbol: 'd' }, days, endMs: nowMs, stepMs: 60_000 }, days)
  const whole = { days: 30, stepSeconds: undefined, custom: [], predecessorMs: undefined }
  return { device: plainDevice, nowMs, local, series, ...whole }
}

/** Measures findings alone: the rest of the answer already has their inputs. */
function findingsWork({ device, series, local }: StatsInput): () => unknown {
  const reading = { predecessorMs: undefined, days: 30, stepSeconds: undefined, expectedIntervalSeconds: null }
  const window = windowOf({ series, gauges: {}, local, ...reading })
  const { cadence } = window
  const { timesMs, values } = series
  const quality = qualityOf(window, device, [])
  const seen = lastSeenOf(series, [], cadence, true)
  const reliability = recordReliability({ timesMs, beforeMs: null, metrics: values, nowMs, cadence, local })
  const known = { custom: [], seen, reliability, quality, window, rejected: undefined }
  return () => findingsOf({ series, ...known, device, nowMs, local })
}

function cpuMsOf(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Rooms with a weather that they share, and a battery that drains in each. */
function fleetWork(): () => unknown {
  const next = createUniform(1)
  const means = new MeansTable(devices, comparedQuarters, comparedMetrics.length)
  const batteries = new MeansTable(devices, batteryDays, batteryMetrics.length)
  const fleet = Array.from({ length: devices }, (_, place): InsightsEntry => {
    for (let quarter = 0; quarter < comparedQuarters; quarter++) {
      const weather = Math.sin(quarter / 3) + Math.sin((Math.PI * quarter) / 2)
      for (let metric = 0; metric < comparedMetrics.length; metric++) {
        means.add(place, quarter, metric, 360 * (20 + weather + 0.3 * next()), 360)
      }
    }
    for (let day = 0; day < batteryDays; day++) {
      batteries.add(place, day, 1, 1440 * (3.9 - 0.004 * day + 0.005 * next()), 1440)
    }
    return { ...plainEntry(`d${place}`), batteryType: 'li-ion', batteryCells: 1 }
  })
  return () => {
    const outliers = comparedMetrics.flatMap((metric, place) => outliersOf(fleet, metric, means, place))
    const generatedAtMs = Math.floor(nowMs / hourMs) * hourMs
    const of = { fleet, known: nothingKnown, standing: [], generatedAtMs, local }
    return buildInsights({ ...of, batteries: columnBatteries(fleet, batteries), outliers })
  }
}

const unusualDays = { history: 56, judged: 14 }

/** A gauge of each device, as rules of alerts read it at a full hour. */
function unusualWork(): () => unknown {
  const hours = 24 * unusualDays.history
  const localHours = Uint8Array.from({ length: hours }, (_, hour) => hour % 24)
  const next = createUniform(2)
  const gauges = Array.from({ length: devices }, () => {
    let level = 0
    return Float64Array.from({ length: hours }, (_, hour) => {
      level = 0.95 * level + next() - 0.5
      return 20 + level + 3 * Math.sin((Math.PI * hour) / 12)
    })
  })
  const from = hours - 24 * unusualDays.judged
  return () => gauges.map(hourly => unusualOf({ hourly, localHours, quantum: 0.1 }, from))
}

const inputs = [1, 2, 3].map(inputOf)
const ofFindings = inputs.map(findingsWork)
const fleetFindings = fleetWork()
const fleetUnusual = unusualWork()
const times = { stats: [] as number[], findings: [] as number[], fleet: [] as number[], unusual: [] as number[] }
for (let turn = 0; turn < warmUps + turns; turn++) {
  const place = turn % inputs.length
  const stats = cpuMsOf(() => buildStats(inputs[place] as StatsInput))
  const findings = cpuMsOf(ofFindings[place] as () => unknown)
  const fleet = turn % 3 === 0 ? cpuMsOf(fleetFindings) : undefined
  const unusual = turn % 3 === 0 ? cpuMsOf(fleetUnusual) : undefined
  if (turn < warmUps) continue
  times.stats.push(stats)
  times.findings.push(findings)
  if (fleet !== undefined) times.fleet.push(fleet)
  if (unusual !== undefined) times.unusual.push(unusual)
}
const [stats, findings, fleet] = [median(times.stats), median(times.findings), median(times.fleet)]
const spreads = { ms: spread(times.stats), findingsMs: spread(times.findings) }
bounds.atMost('stats_data with findings, times without', stats / (stats - findings), withFindingsMax, spreads)
bounds.atMost(`findings of ${devices} devices, times a stats_data`, fleet / stats, fleetMax, {
  ms: spread(times.fleet),
})
bounds.atMost(`unusual, a gauge of ${devices} devices, times a stats_data`, median(times.unusual) / stats, fleetMax, {
  ms: spread(times.unusual),
})
bounds.conclude({ bench: 'findings', turns })
