/** The sentences of findings, and their order. */

import t from 'tap'
import {
  type Finding,
  type FindingCode,
  findingCodes,
  findingSeverities,
  noDetails,
  rankFindings,
} from '../../../analytics/findings/finding.ts'
import { findingText } from '../../../analytics/findings/finding-text.ts'
import { createLocalTime } from '../../../analytics/time/local-time.ts'
import { serviceWords } from '../../../query/findings/words.ts'

const hourMs = 3_600_000
const sinceMs = Date.UTC(2026, 10, 23, 13, 20)
const words = serviceWords(createLocalTime('Europe/Berlin'), [{ name: 'co2', title: 'CO₂', unit: 'ppm', decimals: 0 }])

function finding(code: FindingCode, details: Partial<Finding>): Finding {
  return { ...noDetails, code, severity: 'warning', metric: null, sinceMs, ...details }
}

const says = (code: FindingCode, details: Partial<Finding> = {}) => findingText(finding(code, details), words)

const until = sinceMs + 6 * hourMs
const night = { from: '02:00', to: '05:00', days: 7 }
const off = (metric: string, value: number, ...expected: [number | null, number | null]) => ({
  metric,
  value,
  expected,
})
const stuck = { metric: 'temperature', value: 21.5 }

/** `@` stands for 23 Nov 2026, 14:20, `#` for `has been`, and `~` for `since 23 Nov 2026`. */
const sentences: Partial<Record<FindingCode | 'spike', [Partial<Finding>, string][]>> = {
  spike: [
    [off('humidity', 41.2, 52.4, 91.3), 'Humidity had a spike at @: 41 %, expected 52 % to 91 %'],
    [off('humidity', 51.6, 52.4, 91.3), 'Humidity had a spike at @: 51.6 %, expected 52.4 % to 91.3 %'],
    [off('humidity', 91.316, 52.4, 91.31), 'Humidity had a spike at @: 91.32 %, expected 52.40 % to 91.31 %'],
    [off('humidity', 52, 52, 91), 'Humidity had a spike at @: 52 %, expected 52 % to 91 %'],
  ],
  level_change: [
    // A level has as many decimals as its difference from the previous one needs.
    [off('humidity', 45.4, 44.8, 45.2), 'Humidity # 0.4 points higher ~: about 45.4 % instead of 45.0 %'],
    [off('humidity', 45.5, 44.2, 44.6), 'Humidity # 1.1 points higher ~: about 45.5 % instead of 44.4 %'],
    [off('humidity', 45.4, 44, 46.5), 'Humidity # 0.1 points higher ~: about 45.4 % instead of 45.3 %'],
    [off('temperature', 20.04, 19.99, 20.01), 'Temperature # 0.04 °C higher ~: about 20.04 °C instead of 20.00 °C'],
    [off('temperature', -3.2, 1.9, 2.1), 'Temperature # 5.2 °C lower ~: about −3.2 °C instead of 2.0 °C'],
    [
      off('temperature', 16.94449, 20.51789, 20.51789),
      'Temperature # 3.6 °C lower ~: about 16.9 °C instead of 20.5 °C',
    ],
  ],
  unusual: [
    // No number of decimals makes the levels as far apart as they are.
    [off('temperature', 16.94449, 20.51789, 20.51789), 'Temperature # 3.6 °C lower than usual for these hours since @'],
    [off('temperature', 16.9, 18.5, 21.5), 'Temperature # 3.1 °C lower than usual for these hours since @'],
    [
      { ...off('humidity', 60, 40, 50), untilMs: until },
      'Humidity was 15 points higher than usual for these hours for 6 hours from @',
    ],
  ],
  ramp: [
    [{ metric: 'temperature', value: 0.32 }, 'Temperature # rising by 0.3 °C a day since about 23 Nov 2026'],
    [{ metric: 'temperature', value: -0.03 }, 'Temperature # falling by 0.03 °C a day since about 23 Nov 2026'],
  ],
  error_code: [
    [
      { metric: 'co2', value: 65_535, count: 4 },
      'CO₂ has shown 65535 ppm in 4 readings since @, a code for an error of the sensor',
    ],
    [
      { metric: 'co2', value: -999, count: 4, untilMs: until },
      'CO₂ showed −999 ppm in 4 readings since @, a code for an error of the sensor',
    ],
    [{ metric: 'co2', value: -999, untilMs: sinceMs }, 'CO₂ showed −999 ppm at @, a code for an error of the sensor'],
  ],
  silent: [[{}, 'No reading since @']],
  silent_metric: [
    [{ metric: 'co2' }, 'CO₂ is missing from the readings since @'],
    [{ metric: 'co2', untilMs: until }, 'CO₂ was missing from the readings for 6 hours from @'],
  ],
  outage: [
    [{ untilMs: until, count: 1 }, 'No readings for 6 hours from @'],
    [{ untilMs: until, count: 3 }, 'No readings for 6 hours from @, the longest of 3 outages in 7 days'],
  ],
  outage_pattern: [
    [{ pattern: night, count: 6 }, 'No readings every night from 02:00 to 05:00, on 6 of 7 days'],
    [{ pattern: { ...night, from: '12:30', to: '14:00' }, count: 7 }, 'No readings every day from 12:30 to 14:00'],
    // A night is shorter than 19 hours.
    [{ pattern: { ...night, from: '05:30', to: '01:00' }, count: 7 }, 'No readings every day from 05:30 to 01:00'],
    [{ pattern: { ...night, from: '20:00', to: '10:00' }, count: 7 }, 'No readings every night from 20:00 to 10:00'],
  ],
  stuck: [
    [stuck, 'Temperature has stood at 21.5 °C since @'],
    [{ ...stuck, untilMs: until, count: 2 }, 'Temperature stood at 21.5 °C for 6 hours from @ (2 times in 7 days)'],
  ],
  out_of_range: [
    [
      off('temperature', 61, -30, 50),
      'Temperature has been out of range since @: 61.0 °C, expected −30.0 °C to 50.0 °C',
    ],
  ],
  drift: [
    [
      { ...off('temperature', 25.3, 20.1, 20.1), count: 7 },
      'Temperature is unlike its neighbours: 25.3 °C, expected 20.1 °C',
    ],
    [{ ...off('temperature', 13.8, 20, 20), count: 0 }, 'Temperature has changed: 13.8 °C, expected 20.0 °C'],
  ],
  battery_level: [[{ metric: 'battery_voltage', value: 2.38 }, 'The battery runs low: 2.38 V']],
  battery_days: [
    [{ value: 12.3, expected: [9.4, 16.2] }, 'The battery lasts about 12 days (9 to 17)'],
    [{ value: 0.4, expected: [0, 0.9] }, 'The battery lasts less than a day'],
    [{ value: 200, expected: [90, 1000] }, 'The battery lasts about 200 days (90 to more than 365)'],
  ],
  rejected: [
    [
      { count: 12, reason: 'out of range' },
      'At least 12 readings have been rejected, as a whole or in part, since @: out of range',
    ],
  ],
  spikes: [
    [{ metric: 'temperature', value: 61, count: 13 }, '13 spikes in temperature since @, the farthest at 61.0 °C'],
    [{ metric: 'humidity', value: 0, count: 8 }, '8 spikes in humidity since @, the farthest at 0 %'],
  ],
  excursion: [
    [off('temperature', 11.2, 2, 8), 'Temperature has been above 8.0 °C since @: 11.2 °C'],
    [off('temperature', 8.04, 2, 8), 'Temperature has been above 8.00 °C since @: 8.04 °C'],
    [{ ...off('temperature', 1, 2, null), untilMs: until }, 'Temperature was below 2.0 °C for 6 hours from @: 1.0 °C'],
  ],
}

t.test('each finding and anomaly states the fault and its beginning', async t => {
  const all = Object.entries(sentences).flatMap(([code, rows]) => rows.map(row => [code, ...row] as const))
  for (const [code, details, sentence] of all) {
    const said = sentence.replace('@', '23 Nov 2026, 14:20').replace('#', 'has been').replace('~', 'since 23 Nov 2026')
    t.equal(says(code as FindingCode, details), said)
  }
})

/** Optional properties of a finding. */
const choices = {
  metric: [null, 'temperature', 'co2'],
  untilMs: [null, sinceMs, sinceMs + 50 * hourMs],
  value: [null, -0.01, 61],
  expected: [null, [null, 50], [-30, null], [-30, 50]],
  count: [null, 1, 2],
  pattern: [null, { from: '23:10', to: '01:00', days: 7 }],
  reason: [null, 'out of range'],
} satisfies { [Name in keyof Finding]?: readonly Finding[Name][] }

/** Each combination of the choices. */
const variants = Object.entries(choices).reduce<Partial<Finding>[]>(
  (some, [name, values]) => some.flatMap(one => values.map(value => ({ ...one, [name]: value }))),
  [{}],
)

t.test('the sentence of a finding is complete with any of its properties missing', async t => {
  for (const code of findingCodes) {
    const texts = variants.map(details => says(code, details))
    const wrong = texts.filter(
      text => !/^[A-Z0-9]/.test(text) || /undefined|null|NaN|\s\s|_days|[.,:] *$/.test(text) || text.length > 200,
    )
    t.strictSame(wrong, [], code)
  }
})

t.test('findings are sorted by severity, ongoing before ended, newest first, once at a time', async t => {
  const at = (hours: number) => sinceMs + hours * hourMs
  const of = (severity: Finding['severity'], since: number, until: number | null, metric = 'temperature') =>
    finding('stuck', { severity, sinceMs: at(since), untilMs: until === null ? null : at(until), metric })
  const [old, over, ongoing, critical] = [
    of('warning', 0, 1),
    of('warning', 2, 3),
    of('warning', 4, null, 'humidity'),
    of('critical', 1, null, 'pressure'),
  ]
  t.strictSame(rankFindings([old, over, ongoing, critical]), [critical, ongoing, over, old])
  t.strictSame(rankFindings([old, of('critical', 0, 2)]), [of('critical', 0, 2)], 'the worse of two that overlap')
  t.strictSame(rankFindings([old, of('warning', 0, 1, 'humidity')]).length, 2, 'of different metrics')
  const many = Array.from({ length: 30 }, (_, place) => of('info', 2 * place, 2 * place + 1))
  t.equal(rankFindings(many).length, 10)
  t.strictSame([...findingSeverities], ['critical', 'warning', 'info'])
})
