/** The calendar against the platform's. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { dayNumber, formatDate, parseDate } from '../../../analytics/time/calendar.ts'

const dayMs = 86_400_000

test('a day number and its date are inverse, and agree with the platform', async () => {
  const days = fc.integer({ min: parseDate('0000-01-01') ?? 0, max: parseDate('9999-12-31') ?? 0 })
  fc.assert(
    fc.property(days, day => {
      const date = formatDate(day)
      assert.equal(parseDate(date), day)
      assert.equal(date, new Date(day * dayMs).toISOString().slice(0, 10))
    }),
  )
})

test('a date outside the calendar is rejected', async t => {
  const none = ['2026-02-30', '2025-02-29', '1900-02-29', '2026-13-01', '2026-00-10', '2026-04-31', '2026-01-00']
  for (const text of none) t.equal(parseDate(text), undefined, text)
  for (const text of ['2024-02-29', '2000-02-29', '0000-02-29']) t.type(parseDate(text), 'number', text)
})

test('only YYYY-MM-DD is read as a date', async t => {
  for (const text of ['', '2026-1-1', '20260101', '2026-01-01T00:00', ' 2026-01-01', '+2026-01-01', '2026-01-01\n']) {
    t.equal(parseDate(text), undefined, JSON.stringify(text))
  }
})

test('the first of 1970 is day 0', async t => {
  t.equal(dayNumber(1970, 1, 1), 0)
  t.equal(dayNumber(1969, 12, 31), -1)
})
