/**
 * The scores of the detectors and the forecast on labelled series, in a given folder:
 *
 *  - anomalies: CSV files of time and value, and `labels.json` with the windows of each (`{"pump.csv": [["2026-01-01
 *    10:00", "…"]]}`), in the format of the Numenta benchmark, folders included
 *  - changes: JSON files with `series[0].raw`, and `annotations.json` with places marked by people (`{"name": {"1":
 *    [60]}}`), in the format of the Turing change point dataset
 *  - forecasts: `name-train.csv` and `name-test.csv` with a series a row after its name, in the format of the M4
 *    competition, of hours.
 *
 * Usage: node bench/judgement.ts <folder>
 */

import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { changePoints } from '../analytics/changes/change-points.ts'
import { qualityAnomalies } from '../analytics/findings/quality-anomalies.ts'
import { forecast } from '../analytics/forecast/forecast.ts'
import { horizonHours } from '../analytics/forecast/models.ts'
import { checkQuality } from '../analytics/quality/quality.ts'
import { freeLimits, qualityLimits, stillLimits } from '../analytics/quality/quality-limits.ts'
import { cadenceOf } from '../analytics/reliability/cadence.ts'
import { bridgedHours } from '../analytics/time/fill-gaps.ts'
import { binMeans, frameOf } from '../analytics/time/grid.ts'
import { createLocalTime } from '../analytics/time/local-time.ts'
import { unusualOf } from '../analytics/unusual/unusual.ts'
import { localHoursOf } from '../query/analyses/gauge-hours.ts'
import { anomalyScore, changeScore, forecastScore, meanOf, normalisedScore, type Window } from './judgement-scores.ts'
import { printResult, round } from './measure.ts'

const hourMs = 3_600_000
const monthMs = 30 * 24 * hourMs
const utc = createLocalTime('UTC')
/** The detectors learn from this share of each series, as in the benchmark. */
const learnedShare = 0.15
const historyHours = 56 * 24

interface Labelled {
  readonly timesMs: Float64Array
  readonly values: Float64Array
  readonly windows: readonly Window[]
}

/** One line a detector, of the anomalies, the changes and the forecasts that the folder has series for. */
export function judge(folder: string): Record<string, unknown>[] {
  return [...judgeAnomalies(folder), ...judgeChanges(folder), ...judgeForecasts(folder)]
}

/** The times of each detector's findings. */
const detectors: Readonly<Record<string, (series: Labelled) => number[]>> = {
  unusual: unusualTimes,
  quality: qualityTimes,
  both: series => [...unusualTimes(series), ...qualityTimes(series)].sort((a, b) => a - b),
}

function judgeAnomalies(folder: string): Record<string, unknown>[] {
  const path = join(folder, 'labels.json')
  if (!existsSync(path)) return []
  const labels = JSON.parse(readFileSync(path, 'utf8')) as Record<string, [string, string][]>
  const all = Object.entries(labels).map(([file, windows]) => labelled(join(folder, file), windows))
  const months = all.reduce(
    (sum, { timesMs }) => sum + ((timesMs.at(-1) as number) - (timesMs[0] as number)) / monthMs,
    0,
  )
  return Object.entries(detectors).map(([detector, timesOf]) => {
    const scores = all.map(series => {
      const learnedMs = series.timesMs[Math.floor(learnedShare * series.timesMs.length)] as number
      return anomalyScore(
        timesOf(series).filter(timeMs => timeMs >= learnedMs),
        series.windows,
      )
    })
    const count = (name: 'hits' | 'misses' | 'falseAlarms') => scores.reduce((sum, score) => sum + score[name], 0)
    return {
      bench: 'judgement',
      detector,
      series: all.length,
      hits: count('hits'),
      misses: count('misses'),
      falseAlarmsPerMonth: round(count('falseAlarms') / months),
      score: round(normalisedScore(scores)),
    }
  })
}

function labelled(path: string, windows: readonly (readonly [string, string])[]): Labelled {
  const rows = rowsOf(path).slice(1)
  const samples = rows
    .map(([time = '', value = '']) => ({ timeMs: timeOf(time), value: value === '' ? Number.NaN : Number(value) }))
    .filter(({ value }) => !Number.isNaN(value))
    .sort((a, b) => a.timeMs - b.timeMs)
  return {
    timesMs: Float64Array.from(samples, ({ timeMs }) => timeMs),
    values: Float64Array.from(samples, ({ value }) => value),
    windows: windows.map(([start, end]) => ({ startMs: timeOf(start), endMs: timeOf(end) })),
  }
}

/** ISO 8601, a blank in place of the T, or seconds or milliseconds since 1970. The default zone is UTC. */
function timeOf(text: string): number {
  const number = Number(text)
  if (!Number.isNaN(number)) return number > 1e11 ? number : number * 1000
  const iso = text.trim().replace(' ', 'T')
  const timeMs = Date.parse(/[zZ]|[+-]\d\d:?\d\d$/.test(iso) ? iso : `${iso}Z`)
  if (Number.isNaN(timeMs)) throw new Error(`not a time: ${text}`)
  return timeMs
}

function unusualTimes({ timesMs, values }: Labelled): number[] {
  const frame = frameOf(timesMs[0] as number, timesMs.at(-1) as number, hourMs)
  const hourly = bridgedHours(binMeans(timesMs, values, frame))
  const localHours = localHoursOf({ startMs: frame.startMs, hours: frame.cells }, utc)
  // The time of detection, not the beginning of the episode.
  return unusualOf({ hourly, localHours, quantum: 0 }).episodes.map(
    ({ foundAt }) => frame.startMs + (foundAt + 1) * hourMs,
  )
}

function qualityTimes({ timesMs, values }: Labelled): number[] {
  const limits = stillLimits(freeLimits(qualityLimits('value', null), {}), {})
  const { stretches } = cadenceOf(timesMs, null)
  const { marks, limits: known } = checkQuality(timesMs, values, limits, stretches)
  const found = qualityAnomalies({ name: 'value', timesMs, values, marks, limits: known }, stretches)
  return found.map(({ startMs }) => startMs)
}

function judgeChanges(folder: string): Record<string, unknown>[] {
  const path = join(folder, 'annotations.json')
  if (!existsSync(path)) return []
  const annotations = JSON.parse(readFileSync(path, 'utf8')) as Record<string, Record<string, number[]>>
  const scores = Object.entries(annotations).flatMap(([name, byPerson]) => {
    const [file] = globSync(`**/${name}.json`, { cwd: folder })
    if (file === undefined) return []
    const { series } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { series: { raw: (number | null)[] }[] }
    const raw = series[0]?.raw ?? []
    const known = raw.flatMap((value, place) => (value === null ? [] : [{ value, place }]))
    const levels = {
      days: Float64Array.from(known, ({ place }) => place),
      means: Float64Array.from(known, ({ value }) => value),
    }
    const found = changePoints(levels).map(({ day }) => day)
    return [changeScore(found, Object.values(byPerson), raw.length)]
  })
  const mean = (name: 'cover' | 'f1') => round(meanOf(scores.map(score => score[name])))
  return [{ bench: 'judgement', detector: 'changes', series: scores.length, cover: mean('cover'), f1: mean('f1') }]
}

function judgeForecasts(folder: string): Record<string, unknown>[] {
  return globSync('**/*-train.csv', { cwd: folder }).map(file => {
    const came = new Map(seriesOf(join(folder, file.replace(/-train\.csv$/, '-test.csv'))))
    const scores = seriesOf(join(folder, file)).flatMap(([name, known]) => {
      const test = came.get(name)?.subarray(0, horizonHours)
      if (test === undefined) return []
      const hourly = known.subarray(-historyHours)
      const localHours = Uint8Array.from({ length: hourly.length + horizonHours }, (_, hour) => hour % 24)
      const found = forecast({ hourly, localHours })
      if (found === null) return []
      const weekBefore = Float64Array.from(test, (_, hour) => known[known.length - 168 + hour] as number)
      const naive = { median: weekBefore, low: weekBefore, high: weekBefore }
      return [
        {
          ...forecastScore({ median: found.median, low: found.low95, high: found.high95 }, test, known, 24),
          weekBefore: forecastScore(naive, test, known, 24).mase,
        },
      ]
    })
    const mean = (name: 'mase' | 'msis' | 'coverage' | 'weekBefore') => round(meanOf(scores.map(score => score[name])))
    return {
      bench: 'judgement',
      detector: 'forecast',
      file: basename(file),
      series: scores.length,
      mase: mean('mase'),
      maseOfWeekBefore: mean('weekBefore'),
      msis: mean('msis'),
      coverage95: mean('coverage'),
    }
  })
}

/** Each row is a name and its values. The first row is a header. */
function seriesOf(path: string): [string, Float64Array][] {
  return rowsOf(path)
    .slice(1)
    .map(([name = '', ...cells]) => [
      name,
      Float64Array.from(
        cells.filter(cell => cell !== ''),
        Number,
      ),
    ])
}

function rowsOf(path: string): string[][] {
  const lines = readFileSync(path, 'utf8').split(/\r?\n/)
  return lines.filter(line => line !== '').map(line => line.split(',').map(cell => cell.replace(/^"|"$/g, '')))
}

if (import.meta.main) {
  const { positionals } = parseArgs({ allowPositionals: true })
  const [folder] = positionals
  if (folder === undefined) throw new Error('node bench/judgement.ts <folder>')
  for (const line of judge(folder)) printResult(line)
}
