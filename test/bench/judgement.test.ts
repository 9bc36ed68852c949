/** The bench of detectors on a small folder: its scores, and the public formats. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { judge } from '../../bench/judgement.ts'
import { anomalyScore, changeScore, forecastScore, normalisedScore } from '../../bench/judgement-scores.ts'
import { autoregressive, hourMs } from '../analytics/series.ts'

const startMs = Date.UTC(2026, 0, 1)
const days = 40
const stamp = (hour: number) => new Date(startMs + hour * hourMs).toISOString().slice(0, 19).replace('T', ' ')
const brokenHours = [30 * 24 + 5, 31 * 24 + 5] as const

function dayWithNoise(hours: number, seed: number): Float64Array {
  const noise = autoregressive(hours, 0.5, seed)
  return noise.map((value, hour) => 20 + 5 * Math.sin((2 * Math.PI * hour) / 24) + 0.3 * value)
}

test('a folder with labelled series of all three kinds is scored', async t => {
  const folder = t.testdir()
  mkdirSync(join(folder, 'pumps'))
  const [from, to] = brokenHours
  const broken = dayWithNoise(days * 24, 3).map((value, hour) => (hour >= from && hour < to ? value + 4 : value))
  const lines = Array.from(broken, (value, hour) => `${stamp(hour)},${value.toFixed(2)}`)
  writeFileSync(join(folder, 'pumps', 'one.csv'), ['timestamp,value', ...lines, `${stamp(days * 24)},`].join('\n'))
  const healthy = Array.from(dayWithNoise(days * 24, 4), (value, hour) => `${startMs / 1000 + hour * 3600},${value}`)
  writeFileSync(join(folder, 'two.csv'), ['time,value', ...healthy].join('\n'))
  const labels = { 'pumps/one.csv': [[stamp(from - 6), stamp(to + 6)]], 'two.csv': [] }
  writeFileSync(join(folder, 'labels.json'), JSON.stringify(labels))

  const steps = Array.from(autoregressive(100, 0, 5), (value, place) =>
    place === 7 ? null : value + (place < 60 ? 0 : 6),
  )
  writeFileSync(join(folder, 'step.json'), JSON.stringify({ name: 'step', n_obs: 100, series: [{ raw: steps }] }))
  writeFileSync(join(folder, 'annotations.json'), JSON.stringify({ step: { 1: [60], 2: [61] }, elsewhere: { 1: [] } }))

  const weeks = dayWithNoise(50 * 24, 6)
  const row = (values: Float64Array) => `V1,V2\n"H1",${[...values].map(value => value.toFixed(3)).join(',')},\n`
  writeFileSync(join(folder, 'Hourly-train.csv'), row(weeks.subarray(0, 48 * 24)))
  writeFileSync(join(folder, 'Hourly-test.csv'), row(weeks.subarray(48 * 24)))

  const all = judge(folder)
  const of = (detector: string) => all.find(line => line['detector'] === detector)
  t.match(of('unusual'), { series: 2, hits: 1, misses: 0, falseAlarmsPerMonth: 0 })
  t.ok(Number(of('unusual')?.['score']) > 90, `${of('unusual')?.['score']}`)
  t.match(of('both'), { hits: 1, misses: 0 })
  t.match(of('changes'), { series: 1, f1: 1 })
  t.ok(Number(of('changes')?.['cover']) > 0.95)
  const { mase, msis, coverage95, maseOfWeekBefore } = of('forecast') as Record<string, number>
  t.ok(Number(mase) < 1 && Number(mase) < Number(maseOfWeekBefore), `${mase}, ${maseOfWeekBefore}`)
  t.ok(Number(coverage95) > 0.8 && Number(msis) < 10, `${coverage95}, ${msis}`)
  t.strictSame(judge(t.testdir({})), [], 'an empty folder')
})

test('early windows score better than late or false ones', async t => {
  const window = { startMs: 100, endMs: 200 }
  const score = (...times: number[]) => normalisedScore([anomalyScore(times, [window])])
  t.equal(score(), 0)
  t.equal(score(100), 100)
  t.ok(score(100) > score(150) && score(150) > score(200) && score(200) >= 50)
  t.ok(Math.abs(score(100, 1000) - 94.5) < 1e-9, 'far behind')
  t.ok(score(100, 210) > score(100, 290), 'shortly behind a window it costs less')
  t.match(anomalyScore([50, 150, 160], [window]), { hits: 1, misses: 0, falseAlarms: 1 })
})

test('scores of changes and of intervals', async t => {
  t.strictSame(changeScore([60], [[60], [58]], 100), { cover: (1 + changeScore([60], [[58]], 100).cover) / 2, f1: 1 })
  t.strictSame(changeScore([], [[50]], 100), { cover: 0.5, f1: 2 / 3 }, 'the beginning counts as found')
  t.ok(changeScore([20, 60], [[60]], 100).f1 < 1)
  const known = Float64Array.of(0, 1, 0, 1)
  const score = forecastScore({ median: [1, 1], low: [0, 0], high: [2, 2] }, Float64Array.of(1, 3), known, 1)
  t.strictSame(score, { mase: 1, msis: (2 + 2 + 40) / 2, coverage: 0.5 })
})
