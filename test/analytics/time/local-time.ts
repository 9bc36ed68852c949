/** Local time against Intl, which is correct but too slow for every point. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { formatDate, parseDate } from '../../../analytics/time/calendar.ts'
import { createLocalTime, ZoneOffsets } from '../../../analytics/time/local-time.ts'
import { runs } from '../../support/runs.ts'

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')]
const hourMs = 3_600_000

function intlText(timeZone: string): (timeMs: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
  return timeMs => format.format(timeMs)
}

test("a moment’s text equals Intl's, in any zone", async () => {
  const moments = fc.tuple(
    fc.constantFrom(...zones),
    fc.array(fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) }), { minLength: 1, maxLength: 20 }),
  )
  fc.assert(
    fc.property(moments, ([zone, timesMs]) => {
      const local = createLocalTime(zone)
      const expected = intlText(zone)
      for (const timeMs of timesMs) assert.equal(local.text(timeMs * 1000 + 999), expected(timeMs), `${zone} ${timeMs}`)
    }),
    runs(40, 300),
  )
})

test('a moment’s text is correct on both sides of every clock change', async t => {
  const firstDay = parseDate('1970-01-02') ?? 0
  const lastDay = parseDate('2037-12-31') ?? 0
  let changes = 0
  // A sample of zones with different rules: half an hour, midnight, a skipped day, one and two changes in Ramadan.
  for (const zone of ['America/Sao_Paulo', 'Africa/Casablanca', 'Australia/Lord_Howe', 'Pacific/Apia']) {
    const offsets = new ZoneOffsets(zone)
    const local = createLocalTime(zone)
    const expected = intlText(zone)
    for (let day = firstDay; day < lastDay; day++) {
      const changeMs = offsets.day(day)[1]?.fromMs
      if (changeMs === undefined) continue
      changes++
      for (const timeMs of [changeMs - hourMs, changeMs - 1, changeMs, changeMs + hourMs]) {
        if (local.text(timeMs * 1000) !== expected(timeMs)) t.equal(local.text(timeMs * 1000), expected(timeMs), zone)
      }
    }
  }
  t.ok(changes > 200, `${changes} changes were looked at`)
})

test('a day has 24 hours, and 23 or 25 at clock changes', async t => {
  const hours = (zone: string, date: string) => {
    const day = createLocalTime(zone).day(date)
    return day && [new Date(day.startUs / 1000).toISOString(), (day.endUs - day.startUs) / hourMs / 1000]
  }
  t.strictSame(hours('Europe/Berlin', '2025-07-01'), ['2025-06-30T22:00:00.000Z', 24])
  t.strictSame(hours('Europe/Berlin', '2025-03-30'), ['2025-03-29T23:00:00.000Z', 23])
  t.strictSame(hours('Europe/Berlin', '2025-10-26'), ['2025-10-25T22:00:00.000Z', 25])
  t.strictSame(hours('America/Sao_Paulo', '2018-11-04'), ['2018-11-04T03:00:00.000Z', 23], 'midnight was skipped')
  t.strictSame(hours('America/Sao_Paulo', '2018-02-17'), ['2018-02-17T02:00:00.000Z', 25], 'midnight came late')
  t.strictSame(hours('Australia/Lord_Howe', '2025-04-06'), ['2025-04-05T13:00:00.000Z', 24.5])
  t.strictSame(hours('Pacific/Apia', '2011-12-30'), ['2011-12-30T10:00:00.000Z', 0], 'the day that Samoa left out')
})

test('consecutive days have no gap, and begin with their date', async () => {
  const cases = fc.tuple(fc.constantFrom(...zones), fc.integer({ min: 1, max: parseDate('2099-12-30') ?? 0 }))
  fc.assert(
    fc.property(cases, ([zone, number]) => {
      const local = createLocalTime(zone)
      const day = local.day(formatDate(number))
      const next = local.day(formatDate(number + 1))
      if (day === undefined || next === undefined) throw new Error('a day of the calendar is missing')
      assert.equal(day.endUs, next.startUs)
      const expected = day.endUs > day.startUs ? formatDate(number) : formatDate(number + 1)
      assert.equal(local.text(day.startUs).slice(0, 10), expected, `${zone} ${expected}`)
      assert.ok(local.text(day.startUs - 1) < formatDate(number), 'the moment before belongs to an earlier day')
    }),
    runs(100, 1000),
  )
})

test('a date that does not exist has no range', async t => {
  t.equal(createLocalTime('Europe/Berlin').day('2026-02-30'), undefined)
  t.throws(() => createLocalTime('Mars/Olympus'), RangeError)
})
