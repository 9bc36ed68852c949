/** An hour of the fleet comes from the hourly view only where the replica that is read has the whole hour in it. */

import { test } from 'tap'
import { readFleetHour } from '../../query/answers/fleet-tasks.ts'
import type { Statement } from '../../store/questdb/client/questdb-pg.ts'

const hourUs = 3_600_000_000
const fromUs = 400_000 * hourUs

async function nameOf(isInView: boolean, rawFromUs: number): Promise<string | undefined> {
  const statements: Statement[] = []
  const connection = { read: async (statement: Statement) => void statements.push(statement) }
  const hourSources = { rawFromUs, expiredBeforeUs: Number.NEGATIVE_INFINITY }
  await readFleetHour({ fromUs, isInView, hourSources }, connection as never, new AbortController().signal)
  return statements[0]?.name
}

test('the view of another replica does not decide', async t => {
  t.equal(await nameOf(true, fromUs + hourUs), 'fleet-hour-view')
  t.equal(await nameOf(true, fromUs + hourUs - 1), 'fleet-hour-raw', 'this view ends earlier')
  t.equal(await nameOf(true, Number.NEGATIVE_INFINITY), 'fleet-hour-raw', 'this replica has no view')
  t.equal(await nameOf(false, fromUs + hourUs), 'fleet-hour-raw', 'the view has just failed')
})
