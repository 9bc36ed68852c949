/**
 * The forecast against statsmodels' ETS and SARIMAX on the demo's stations, at the same origins and from the same 56
 * days of hours. Errors are pooled over all origins, in multiples of the seasonal naive forecast's error. Processor
 * time is measured, too.
 *
 * Usage: node bench/forecast.ts [--python path] [--origins 8]
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { mean, median } from 'simple-statistics'
import { forecast } from '../analytics/forecast/forecast.ts'
import { horizonHours } from '../analytics/forecast/models.ts'
import { startBench } from './bounds.ts'
import { round, spread } from './measure.ts'
import { type Reference, startReference } from './reference-process.ts'

const { values: options } = parseArgs({
  options: { python: { type: 'string', default: 'python3' }, origins: { type: 'string', default: '8' } },
})
/** Origins of a series. */
const origins = Number(options.origins)
const historyHours = 56 * 24
const ratioMin = 50
/** Percentage points between an interval's coverage and its nominal share. */
const coverageOffMax = 0.05
/** The first calls let the compiler find hot code. */
const warmUps = 5

const { hooks, bounds, run } = startBench()

interface Series {
  readonly name: string
  readonly values: Float64Array
  readonly range?: readonly [number, number]
}

interface Ahead {
  readonly median: ArrayLike<number>
  readonly low80: ArrayLike<number>
  readonly high80: ArrayLike<number>
  readonly low95: ArrayLike<number>
  readonly high95: ArrayLike<number>
  readonly cpu_ms: number
}

/** A model's result at one origin. */
interface Outcome {
  /** The mean absolute error divided by the seasonal naive forecast's. */
  readonly error: number
  readonly naive: number
  readonly held80: number
  readonly held95: number
  readonly cpuMs: number
}

function seriesOf(station: string): Series[] {
  const lines = readFileSync(join(import.meta.dirname, '..', 'cli', 'demo', 'data', `${station}-hours.csv`), 'utf8')
  const rows = lines
    .trimEnd()
    .split('\n')
    .slice(1)
    .map(line => line.split(','))
  const column = (place: number) => Float64Array.from(rows, row => Number(row[place] || Number.NaN))
  return [
    { name: `${station} temperature`, values: column(2) },
    { name: `${station} humidity`, values: column(3), range: [0, 100] },
    { name: `${station} pressure`, values: column(4) },
  ]
}

/** Origins at different hours of the day, each with a full history and future. */
function originsOf({ values }: Series): number[] {
  const span = values.length - historyHours - horizonHours
  return Array.from({ length: origins }, (_, place) => historyHours + Math.floor((span * (place + 0.5)) / origins))
}

/** The hours only need distinct numbers, so UTC hours suffice. */
function ownForecast({ values, range }: Series, origin: number): Ahead {
  const localHours = Uint8Array.from({ length: historyHours + horizonHours }, (_, hour) => hour % 24)
  const hourly = values.subarray(origin - historyHours, origin)
  const before = process.cpuUsage()
  const ahead = forecast(range === undefined ? { hourly, localHours } : { hourly, localHours, range })
  const { user, system } = process.cpuUsage(before)
  if (ahead === null) throw new Error('there is no forecast')
  return { ...ahead, cpu_ms: (user + system) / 1000 }
}

function outcomeOf({ values }: Series, origin: number, ahead: Ahead): Outcome {
  const came = values.subarray(origin, origin + horizonHours)
  const errors = came.map((value, hour) => Math.abs(value - (ahead.median[hour] as number)))
  const naive = came.map((value, hour) => Math.abs(value - (values[origin - 24 + (hour % 24)] as number)))
  const held = (low: ArrayLike<number>, high: ArrayLike<number>) => {
    return mean(Array.from(came, (value, hour) => Number(value >= Number(low[hour]) && value <= Number(high[hour]))))
  }
  return {
    error: mean(Array.from(errors)),
    naive: mean(Array.from(naive)),
    held80: held(ahead.low80, ahead.high80),
    held95: held(ahead.low95, ahead.high95),
    cpuMs: ahead.cpu_ms,
  }
}

type Outcomes = Record<'own' | 'ets' | 'sarimax', Outcome[]>

async function outcomesOf(reference: Reference, series: Series): Promise<Outcomes> {
  const outcomes: Outcomes = { own: [], ets: [], sarimax: [] }
  for (const origin of originsOf(series)) {
    const values = Array.from(series.values.subarray(origin - historyHours, origin))
    const theirs = (await reference.ask({ values })) as Record<'ets' | 'sarimax', Ahead>
    outcomes.own.push(outcomeOf(series, origin, ownForecast(series, origin)))
    outcomes.ets.push(outcomeOf(series, origin, theirs.ets))
    outcomes.sarimax.push(outcomeOf(series, origin, theirs.sarimax))
  }
  return outcomes
}

/** A series whose errors are large counts no more than another. */
function figuresOf(bySeries: readonly (readonly Outcome[])[]) {
  const pooled = (of: (one: Outcome) => number) => mean(bySeries.flat().map(of))
  const ratios = bySeries.map(all => mean(all.map(({ error }) => error)) / mean(all.map(({ naive }) => naive)))
  return {
    maseRatio: mean(ratios),
    ratios,
    coverage80: pooled(({ held80 }) => held80),
    coverage95: pooled(({ held95 }) => held95),
    cpuMs: bySeries.flat().map(({ cpuMs }) => cpuMs),
  }
}

async function bench(): Promise<void> {
  const reference = await startReference(hooks, options.python, 'forecast.py')
  // The pressure of Sand Point is one value in all of its year.
  const all = ['greensboro', 'sand-point']
    .flatMap(seriesOf)
    .filter(({ values }) => values.some(one => one !== values[0]))
  for (const series of all.slice(0, warmUps)) ownForecast(series, historyHours)
  const outcomes: Outcomes[] = []
  for (const series of all) outcomes.push(await outcomesOf(reference, series))
  const own = figuresOf(outcomes.map(one => one.own))
  for (const name of ['ets', 'sarimax'] as const) {
    const their = figuresOf(outcomes.map(one => one[name]))
    bounds.atMost(`error, times ${name}'s error`, own.maseRatio / their.maseRatio, 1, {
      errors: [round(own.maseRatio), round(their.maseRatio)],
      coverage80: round(their.coverage80),
      coverage95: round(their.coverage95),
    })
    bounds.atLeast(`processor time of ${name}, times ours`, median(their.cpuMs) / median(own.cpuMs), ratioMin, {
      ms: spread(own.cpuMs),
      referenceMs: spread(their.cpuMs),
    })
  }
  for (const [place, { name }] of all.entries()) {
    const ratio = own.ratios[place] ?? Number.NaN
    bounds.atMost(`error, times the day before, ${name}`, ratio, 0.95)
  }
  bounds.atMost('error, times the day before, mean', own.maseRatio, 0.85)
  bounds.atMost('80 % interval, off its share', Math.abs(own.coverage80 - 0.8), coverageOffMax)
  bounds.atMost('95 % interval, off its share', Math.abs(own.coverage95 - 0.95), coverageOffMax)
  const count = all.length * origins
  bounds.conclude({ bench: 'forecast', origins: count, versions: reference.versions })
}

await run(bench)
