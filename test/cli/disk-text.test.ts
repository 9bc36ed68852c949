/** What is told of the disk. */

import t from 'tap'
import { diskText, isDiskFillingUp } from '../../cli/disk-text.ts'

const gibibyte = 1024 ** 3
const unknown = {
  path: '/data',
  free_bytes: 10 * gibibyte,
  total_bytes: 20 * gibibyte,
  journal_bytes: null,
  questdb_bytes: null,
  postgres_bytes: null,
  growth_bytes_per_day: null,
  days_until_full: null,
}
const known = { ...unknown, journal_bytes: 1024, questdb_bytes: gibibyte, growth_bytes_per_day: gibibyte / 2 }

t.test('what is not known is said to be unknown', async t => {
  t.equal(diskText(unknown), '10.0 GiB free of 20.0 GiB at /data, growth unknown (needs four days)')
  t.notOk(isDiskFillingUp(unknown))
  t.match(diskText({ ...known, growth_bytes_per_day: -5 }), /, not growing$/)
  t.match(diskText(known), /, 512.0 MiB more per day until readings expire$/)
})

t.test('parts, growth and the days that are left', async t => {
  const text = diskText({ ...known, days_until_full: 20.7 })
  t.match(text, '/data, journals 1.0 KiB, QuestDB 1.0 GiB, 512.0 MiB more per day, full in 20 days')
  t.match(diskText({ ...known, days_until_full: 0.5 }), /full in less than a day$/)
  t.notOk(isDiskFillingUp({ ...known, days_until_full: 14 }))
  t.ok(isDiskFillingUp({ ...known, days_until_full: 13.9 }))
})
