/** Findings in a device's statistics: silence at the time of the request, and findings of its profile. */

import t from 'tap'
import { batteryFindings, columnBatteries } from '../../../query/answers/fleet-batteries.ts'
import { batteryDays } from '../../../query/findings/known-battery.ts'
import { autoregressive } from '../../analytics/series.ts'
import { plainEntry } from '../../support/plain-device.ts'
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

t.test("a change of level is described by the device's location", async t => {
  const { findings } = ask({ series: room(), device: { profile: 'indoor' }, nowMs })
  t.match(findings, [
    { code: 'level_change', severity: 'warning', metric: 'temperature', since: '2026-01-21 00:00', until: null },
  ])
  t.match(findings[0].text, /^Temperature has been 3\.\d °C higher since 21 Jan 2026: about 23\.\d °C/)
  t.match(ask({ series: room(), nowMs }).findings, [{ code: 'level_change', severity: 'info' }])
  const outdoors = ask({ series: room(), device: { profile: 'weather' }, nowMs }).findings
  t.match(outdoors, [{ code: 'unusual', metric: 'temperature', since: '2026-01-21 00:00' }], 'the weather has no level')
  t.match(
    outdoors[0].text,
    /^Temperature has been 3\.\d °C higher than usual for these hours since 21 Jan 2026, 00:00$/,
  )
})

t.test('silence is as of the request while other findings are as of the build', async t => {
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

t.test('a metric that a device never sent is not missing', async t => {
  const temperature = (timeMs: number) => 20 + Math.sin(timeMs / 1e7)
  const series = seriesOf(every(minuteMs, nowMs - 3 * dayMs, 3 * 1440), { temperature, humidity: () => Number.NaN })
  t.strictSame(ask({ series, nowMs }).findings, [])
})

t.test('excursions: a pharmacy has 2 to 8 °C, a cold chain its own limits', t => {
  const found = (temperature: (sinceEndMs: number) => number, device: object = { profile: 'pharmacy' }) => {
    const series = seriesOf(every(5 * minuteMs, nowMs - 10 * dayMs, 10 * 288), {
      temperature: timeMs => temperature(nowMs - timeMs) + 0.2 * Math.sin(timeMs),
    })
    const { findings } = ask({ series, device, nowMs })
    return findings.filter(({ code }: Record<string, string>) => code === 'excursion')
  }
  const warm = (fromMs: number, toMs: number) => (sinceMs: number) => (sinceMs <= fromMs && sinceMs > toMs ? 11 : 5)
  const [ended] = found(warm(50 * hourMs, 48 * hourMs))
  t.match(ended, { severity: 'warning', metric: 'temperature', since: '2026-01-28 22:00', until: '2026-01-29 00:00' })
  t.match(ended, { count: 1, expected: [2, 8] })
  t.match(ended.text, /^Temperature was above 8\.0 °C for 2 hours from 28 Jan 2026, 22:00: 11\.2 °C$/)
  t.match(found(warm(3 * hourMs, 0)), [{ severity: 'critical', since: '2026-01-30 21:00', until: null }])
  t.strictSame(found(warm(50 * hourMs, 50 * hourMs - 25 * minuteMs)), [], 'a door')
  t.strictSame(found(warm(9 * dayMs, 8 * dayMs)), [], 'longer ago than a week')
  const freezerLimits = { profile: 'cold_chain', quality_limits: { temperature: { min: -22, max: -15 } } }
  const thawing = found(sinceMs => (sinceMs <= 2 * hourMs ? -12 : -18), freezerLimits)
  t.match(thawing, [{ severity: 'critical', expected: [-22, -15], until: null }], 'limits of its own')
  for (const level of [1, -18])
    t.strictSame(
      found(() => level, { profile: 'cold_chain' }),
      [],
      'without limits of its own',
    )
  t.match(
    found(() => 1),
    [{ expected: [2, 8], until: null }],
    'a pharmacy that is too cold all the time',
  )
  t.strictSame(found(warm(3 * hourMs, 0), { profile: 'indoor' }), [])
  t.end()
})

t.test('a battery has the same finding as in the insights of the fleet', t => {
  const found = (columns: Parameters<typeof seriesOf>[1], device: object = {}) => {
    const series = seriesOf(every(hourMs, startMs, 30 * 24), columns)
    const { findings } = ask({ series, device, nowMs })
    return findings.filter(({ code }: { code: string }) => code.startsWith('battery'))
  }
  const falling = (_: number, hour: number) => 100 - (80 * hour) / 720 + (noise[hour] as number) / 10
  const lithium = { battery_type: 'li-ion' }
  const [days] = found({ battery_percentage: falling, battery_voltage: () => 3.8 }, lithium)
  t.match(days, { code: 'battery_days', severity: 'critical', metric: 'battery_percentage', since: '2026-01-30 00:00' })
  t.ok(Math.abs(days.value - 7.5) < 0.5 && days.expected[0] <= days.value && days.value <= days.expected[1])
  const low = { battery_voltage: (_: number, hour: number) => (hour < 480 ? 3 : 2.4) + (noise[hour] as number) / 1000 }
  t.match(found(low), [{ code: 'battery_level', severity: 'warning', metric: 'battery_voltage', value: 2.4 }])
  const series = seriesOf(every(hourMs, startMs, 30 * 24), { battery_percentage: falling })
  const { findings } = ask({ series, device: { battery_type: 'li-ion' }, nowMs: nowMs + 20 * hourMs })
  const codes = findings.map(({ code }: { code: string }) => code)
  t.ok(codes.includes('silent') && !codes.includes('battery_days'), 'no estimate while it is silent')
  t.strictSame(found({ battery_percentage: () => 60 }), [])
  t.strictSame(found({ battery_voltage: (_, hour) => 3.6 + (noise[hour] as number) / 100 }), [], 'it does not drain')
  t.end()
})

t.test('the days of a battery equal the fleet in any minute of the hour', t => {
  const charge = (timeMs: number) => {
    const day = (timeMs - startMs) / dayMs
    return 100 - 2.9 * day + 3 * Math.sin(2 * day) + 2 * Math.cos(2 * Math.PI * day)
  }
  const stepMs = 10 * minuteMs
  const times = every(stepMs, startMs - 2 * dayMs, 32 * 144)
  const fleetDays = (atMs: number) => {
    const endMs = Math.floor(atMs / hourMs) * hourMs
    const mean = (_: number, day: number, metric: number) => {
      const fromMs = endMs - (batteryDays - day) * dayMs
      const values = times.filter(timeMs => timeMs >= fromMs && timeMs < Math.min(fromMs + dayMs, atMs)).map(charge)
      return metric === 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : Number.NaN
    }
    const batteries = columnBatteries([{ ...plainEntry('porch'), batteryType: 'li-ion' }], { mean })
    return batteries.flatMap(battery => batteryFindings(battery, atMs)).map(({ value, expected }) => [value, expected])
  }
  for (const minutes of [0, 20, 50]) {
    const atMs = nowMs - 3 * hourMs + minutes * minuteMs
    const past = times.filter(timeMs => timeMs < atMs)
    const device = { battery_type: 'li-ion' } as const
    const { findings } = ask({ series: seriesOf(past, { battery_percentage: charge }), device, nowMs: atMs })
    const [days, ...others] = findings.filter(({ code }: { code: string }) => code === 'battery_days')
    t.strictSame(others, [])
    t.strictSame([[days.value, days.expected]], fleetDays(atMs), `${minutes} min past the hour`)
  }
  t.end()
})
