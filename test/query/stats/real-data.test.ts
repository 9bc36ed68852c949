/** Readings of real stations, which are good. */

import { test } from 'tap'
import { createLocalTime } from '../../../analytics/time/local-time.ts'
import type { Series } from '../../../query/series.ts'
import { demoColumn } from '../../analytics/fixture.ts'
import { ask, seriesOf } from './stats-of.ts'

function readingsOf(file: string): Series {
  const names = ['temperature', 'humidity', 'pressure'] as const
  const columns = names.map(name => [name, demoColumn(file, name)] as const)
  const at = (values: Float64Array) => (_: number, place: number) => values[place] as number
  return seriesOf(
    demoColumn(file, 'timestamp'),
    Object.fromEntries(columns.map(([name, values]) => [name, at(values)])),
  )
}

test('of good stations at most one reading in a hundred is suspect', async t => {
  const stations = [
    { file: 'alamosa-minutes.csv', zone: 'America/Denver', altitude_m: 2317, days: 1 },
    { file: 'greensboro-hours.csv', zone: 'America/New_York', altitude_m: 273, days: 365 },
    { file: 'sand-point-hours.csv', zone: 'America/Anchorage', altitude_m: 6, days: 365 },
  ]
  for (const { file, zone, days, altitude_m } of stations) {
    for (const altitude of [altitude_m, null]) {
      const device = { altitude_m: altitude }
      const { quality } = ask({ series: readingsOf(file), local: createLocalTime(zone), days, device })
      for (const metric of ['temperature', 'humidity', 'pressure']) {
        const { good, suspect } = quality[metric]
        t.ok(suspect <= 0.01 * (good + suspect), `${file}, ${metric}: ${JSON.stringify(quality[metric])}`)
      }
    }
  }
  const low = ask({ series: readingsOf('alamosa-minutes.csv'), device: { altitude_m: 0 } })
  t.equal(low.quality.pressure.tests.range, 0, 'a usual range that no value is in is another place’s')
})
