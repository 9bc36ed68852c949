import t from 'tap'
import type { Condition } from '../../../alerts/core/condition.ts'
import { valueText } from '../../../alerts/delivery/message-text.ts'

const ofMetric = (value: number | null) => ({ value, metric: 'battery_voltage', unit: 'V' })
const ofNone = (value: number) => ({ value, metric: null, unit: null })
const silent: Condition = { kind: 'silent' }

t.test('a number has its unit', async t => {
  const above: Condition = { kind: 'above', metric: 'battery_voltage', value: 3, hysteresis: 0 }
  t.equal(valueText(ofMetric(0.1 + 0.2), above), 'battery voltage 0.3 V')
  t.equal(valueText(ofMetric(null), above), undefined)
  t.equal(valueText(ofNone(0.875), { kind: 'completeness', share: 0.9 }), '87.5 %')
  const unusual: Condition = { kind: 'unusual', metric: 'humidity' }
  const dry = { value: -12, metric: 'humidity', unit: '%' }
  t.equal(valueText(dry, unusual), '12 points lower than usual', 'a share differs by points')
})

t.test('the duration of a silence has its largest unit', async t => {
  const texts = [1, 60, 61, 3599, 7300, 200_000].map(seconds => valueText(ofNone(seconds), silent))
  const units = ['1 second', '1 minute', '1 minute', '59 minutes', '2 hours', '2 days']
  t.strictSame(
    texts,
    units.map(unit => `no reading for ${unit}`),
  )
})

t.test('days and counts are whole', async t => {
  t.equal(valueText(ofNone(1.7), { kind: 'battery', days: 7, hysteresis: 0 } as Condition), '1 day left')
  t.equal(valueText(ofNone(3), { kind: 'service', fact: 'dead_letters' }), '3 readings')
  t.equal(valueText(ofNone(4.2), { kind: 'service', fact: 'disk_full', days: 7 }), '4 days left')
  t.equal(valueText(ofNone(0.81), { kind: 'service', fact: 'journal_full', share: 0.8 }), '81 %')
  t.equal(valueText(ofNone(90), { kind: 'service', fact: 'questdb_away' }), 'for 1 minute')
  t.equal(valueText(ofNone(1), { kind: 'service', fact: 'clock_stepped' }), 'once in an hour')
})
