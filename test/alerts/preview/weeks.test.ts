import { test } from 'tap'
import { weekOf, weeksBetween } from '../../../alerts/preview/preview-run.ts'
import { createLocalTime } from '../../../analytics/time/local-time.ts'

const utc = createLocalTime('UTC')

test('weeks follow ISO 8601', async t => {
  // Examples of the standard and of Python’s `date.isocalendar`.
  const known: Record<string, string> = {
    '2005-01-01': '2004-W53',
    '2005-12-31': '2005-W52',
    '2007-01-01': '2007-W01',
    '2008-12-29': '2009-W01',
    '2010-01-03': '2009-W53',
    '2026-11-23': '2026-W48',
    '2026-11-29': '2026-W48',
    '2026-11-30': '2026-W49',
    '1969-12-31': '1970-W01',
  }
  for (const [date, week] of Object.entries(known)) t.equal(weekOf(utc, Date.parse(date)), week, date)
})

test('a week begins by the clock of the zone', async t => {
  const berlin = createLocalTime('Europe/Berlin')
  t.equal(weekOf(berlin, Date.parse('2026-11-22T22:59:59Z')), '2026-W47')
  t.equal(weekOf(berlin, Date.parse('2026-11-22T23:00:00Z')), '2026-W48')
})

test('all weeks of a range are named once', async t => {
  const between = (from: string, to: string) => weeksBetween(utc, Date.parse(from), Date.parse(to))
  t.strictSame(between('2026-11-29T12:00Z', '2026-11-30T11:00Z'), ['2026-W48', '2026-W49'])
  t.strictSame(between('2026-11-29', '2026-11-29'), ['2026-W48'])
  t.equal(between('2026-01-01', '2027-01-01').length, 53)
})
