/** The findings of a device in its statistics: with its silence as of the request, and by its profile. */

import t from 'tap'
import { autoregressive } from '../../analytics/series.ts'
import { ask, dayMs, every, hourMs, minuteMs, seriesOf } from './stats-of.ts'

const startMs = Date.UTC(2026, 0, 1)
const nowMs = startMs + 30 * dayMs
const noise = autoregressive(30 * 24, 0.7, 3)

/** A room by the hour, warmer by 3 K from the 20th day on. */
function room() {
  return seriesOf(every(hourMs, startMs, 30 * 24), {
    temperature: (_, hour) =>
      20 + Math.sin((2 * Math.PI * hour) / 24) + 0.2 * (noise[hour] as number) + (hour >= 480 ? 3 : 0),
  })
}

t.test('a change of level is told as what it means where the device is', async t => {
  const { findings } = ask({ series: room(), device: { profile: 'indoor' }, nowMs })
  t.match(findings, [
    { code: 'level_change', severity: 'warning', metric: 'temperature', since: '2026-01-21 00:00', until: null },
  ])
  t.match(
    findings[0].text,
    /^Temperature has been 3\.\d °C higher since 21 Jan 2026: about 23\.\d °C instead of 20\.\d °C$/,
  )
  t.match(ask({ series: room(), nowMs }).findings, [{ code: 'level_change', severity: 'info' }])
  t.strictSame(ask({ series: room(), device: { profile: 'weather' }, nowMs }).findings, [], 'it is the weather')
})

t.test('silence is told as of the request, and what the build has found stays', async t => {
  const series = seriesOf(every(minuteMs, nowMs - 3 * dayMs, 3 * 1440), {
    temperature: timeMs => 20 + Math.sin(timeMs / 1e7),
    humidity: timeMs => (timeMs < nowMs - 8 * hourMs ? 50 + 10 * Math.sin(timeMs / 1e7) : Number.NaN),
  })
  const codes = (givenMs: number) =>
    ask({ series, nowMs, givenMs }).findings.map(({ code, severity }: Record<string, string>) => `${code} ${severity}`)
  t.strictSame(codes(nowMs), ['silent_metric warning'])
  t.strictSame(codes(nowMs + 10 * minuteMs), ['silent warning', 'silent_metric warning'])
  t.strictSame(codes(nowMs + 2 * dayMs), ['silent critical', 'silent_metric warning'])
})
