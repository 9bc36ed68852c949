/** Findings as a page tells them: in the units and the zone of its reader, with a range of the charts that shows them. */

import t from 'tap'
import type { Anomaly } from '../../query/shapes/anomalies.ts'
import type { Finding } from '../../query/shapes/findings.ts'
import { createTimes } from '../../theme/times.ts'
import { findingWindow } from '../../web/pages/device/finding-window.ts'
import { anomalySentence, findingSentence, pageWords, timesOfFinding } from '../../web/text/finding-words.ts'
import { noPreferences, preferences } from '../../web/text/preferences.ts'
import { quantitiesOf } from '../../web/text/quantities.ts'
import { createZone } from '../../web/text/zone.ts'

const hourMs = 3_600_000
const berlin = createZone('Europe/Berlin')
const nowMs = Date.UTC(2026, 10, 23, 18)

const stuck: Finding = {
  code: 'stuck',
  severity: 'warning',
  metric: 'temperature',
  since: '2026-11-23 14:20',
  until: null,
  value: 21.5,
  expected: null,
  count: 1,
  pattern: null,
  reason: null,
  text: 'Temperature has stood at 21.5 °C since 23 Nov 2026, 14:20',
}

t.test('a finding is told in the units and the zone of the reader', async t => {
  t.teardown(() => (preferences.value = noPreferences))
  const told = (finding: Finding, zone: string) =>
    findingSentence(finding, pageWords(quantitiesOf(), createTimes(zone), nowMs), berlin).replaceAll('\u202f', ' ')
  t.equal(told(stuck, 'Europe/Berlin'), 'Temperature has stood at 21.5 °C since 14:20')
  t.equal(told(stuck, 'UTC'), 'Temperature has stood at 21.5 °C since 13:20')
  const yesterday = { ...stuck, since: '2026-11-22 08:20', until: '2026-11-22 20:20' }
  t.equal(told(yesterday, 'Europe/Berlin'), 'Temperature stood at 21.5 °C for 12 hours from 22 Nov 2026, 08:20')
  preferences.value = { ...noPreferences, temperature_unit: '[degF]' }
  t.equal(told(stuck, 'UTC'), 'Temperature has stood at 70.7 °F since 13:20')
  const level: Finding = { ...stuck, code: 'level_change', value: 20.01, expected: [19.99, 20.01] }
  const ofLevel = told(level, 'UTC')
  t.equal(ofLevel, 'Temperature has been 0.02 °F higher since 23 Nov 2026: about 68.02 °F instead of 68.00 °F')
})

t.test('a spike and a jump are told at the time of their value, as by the service', async t => {
  const words = pageWords(quantitiesOf(), createTimes('Europe/Berlin'), nowMs)
  const [start, end] = ['2026-11-23 11:10', '2026-11-23 11:30']
  const of = { id: '', metric: 'temperature', start, end, expected: [17, 23], count: 3, reason: '' } as const
  const told = (anomaly: Pick<Anomaly, 'code' | 'value' | 'value_at'>) =>
    anomalySentence({ ...of, ...anomaly }, words, berlin).replaceAll('\u202f', ' ')
  const at = { value: 45, value_at: '2026-11-23 11:20' }
  t.equal(told({ code: 'spike', ...at }), 'Temperature had a spike at 11:20: 45.0 °C, expected 17.0 °C to 23.0 °C')
  t.equal(told({ code: 'jump', ...at }), 'Temperature jumped at 11:20: 45.0 °C, expected 17.0 °C to 23.0 °C')
  const line = told({ code: 'flat_line', value: 20, value_at: null })
  t.equal(line, 'Temperature stood at 20.0 °C for 20 minutes from 11:10')
})

t.test('the charts show what was before it, and after it where it is over', async t => {
  const windowOf = (since: string, until: string | null) => {
    const { fromMs, toMs } = findingWindow(timesOfFinding({ since, until }, berlin), nowMs)
    return [(nowMs - fromMs) / hourMs, (nowMs - toMs) / hourMs]
  }
  t.strictSame(windowOf('2026-11-23 17:00', null), [3, 0], 'an hour at least')
  t.strictSame(windowOf('2026-11-22 19:00', null), [30, 0])
  t.strictSame(windowOf('2026-11-22 15:00', '2026-11-22 23:00'), [30, 18])
  t.equal(windowOf('2020-01-01 00:00', null)[0], 366 * 24, 'no longer than a chart')
  t.strictSame(windowOf('2026-11-23 19:00', '2026-11-23 19:00'), [1, 0])
})
