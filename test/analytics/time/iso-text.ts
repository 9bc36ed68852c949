import { test } from 'tap'
import { localText, utcText } from '../../../analytics/time/iso-text.ts'

const at = (text: string) => Date.parse(text) * 1000

test('UTC has no suffix, and microseconds only if they are not zero', async t => {
  t.equal(utcText(at('2016-05-30T02:20:00Z')), '2016-05-30T02:20:00')
  t.equal(utcText(at('2016-05-30T02:20:00.250Z') + 7), '2016-05-30T02:20:00.250007')
  t.equal(utcText(at('2016-05-30T02:20:00Z') + 1), '2016-05-30T02:20:00.000001')
  t.equal(utcText(-1), '1969-12-31T23:59:59.999999')
})

test('local time has the offset of its moment', async t => {
  const cases = [
    ['2016-05-30T02:20:00Z', 'Asia/Kolkata', '2016-05-30T07:50:00+05:30'],
    ['2016-05-30T02:20:00Z', 'UTC', '2016-05-30T02:20:00+00:00'],
    ['2016-01-01T02:20:00Z', 'America/New_York', '2015-12-31T21:20:00-05:00'],
    ['2016-07-01T02:20:00Z', 'America/New_York', '2016-06-30T22:20:00-04:00'],
    ['2016-07-01T02:20:00Z', 'America/St_Johns', '2016-06-30T23:50:00-02:30'],
    ['2016-07-01T02:20:00.5Z', 'Asia/Kathmandu', '2016-07-01T08:05:00.500000+05:45'],
    ['2026-10-25T00:30:00Z', 'Europe/Berlin', '2026-10-25T02:30:00+02:00'],
    ['2026-10-25T01:30:00Z', 'Europe/Berlin', '2026-10-25T02:30:00+01:00'],
  ] as const
  for (const [time, zone, text] of cases) {
    t.equal(localText(at(time), zone), text)
    t.equal(Date.parse(text) * 1000, at(time), 'names the same moment')
  }
})
