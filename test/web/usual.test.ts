/** Whether a value is usual for its hour, as the page of a device tells it. */

import t from 'tap'
import type { NormalValues } from '../../query/shapes/normal.ts'
import { nowNotes, usualText } from '../../web/pages/device/now-notes.ts'
import { builtInQuantities } from '../../web/text/quantities.ts'
import { createZone } from '../../web/text/zone.ts'

t.test('what is beyond the middle four fifths of the days is told with their number', async t => {
  const told = (percentile: number, daysEqual = 0) => {
    const daysLower = Math.round((percentile / 100) * 29 - daysEqual / 2)
    return usualText({ kind: 'usual', percentile, days: 29, daysLower, daysEqual, isWithin: false })
  }
  t.equal(told(50), 'last full hour: usual')
  t.equal(told(89), 'last full hour: usual')
  t.equal(told(93.1), 'last full hour: higher than on 27 of 29 days')
  t.equal(told(100), 'last full hour: higher than on 29 of 29 days')
  t.equal(told((100 * 1.5) / 29, 3), 'last full hour: lower than on 26 of 29 days', 'on three it was the same')
  t.equal(told((100 * 27.5) / 29, 3), 'last full hour: higher than on 26 of 29 days')
  t.equal(told(3.4), 'last full hour: lower than on 28 of 29 days')
  t.equal(told(0), 'last full hour: lower than on 29 of 29 days')
})

t.test('a value that reads as usual is not told to be lower', async t => {
  const counts = { days: 42, days_lower: 0, days_equal: 0 }
  const hour = { status: 'ok', reason: null, at: '2026-11-27 02:00', percentile: 0, ...counts, basis: 'hour' } as const
  const told = (value: number, metric = 'temperature') => {
    const normal = { [metric]: { ...hour, value, low: 12, median: 12, high: 12 } } as unknown as NormalValues
    const ts = Date.UTC(2026, 10, 27, 2, 20)
    const of = { values: { [metric]: { v: value, ts, unit: '°C' } }, live: [], lastKnown: {}, zone: createZone('UTC') }
    const none = { detail: undefined, stats: undefined, past: undefined }
    const note = nowNotes({ ...of, ...none, normal, quantities: builtInQuantities }).get(metric)
    return note?.kind === 'usual' ? usualText(note) : undefined
  }
  t.equal(told(11.98), 'last full hour: usual')
  t.equal(told(11.9), 'last full hour: lower than on 42 of 42 days')
  t.equal(told(11.9, 'battery_voltage'), undefined, 'a battery is lower than ever as long as it lasts')
})
