/**
 * Hours of expired days that a statement still keeps. A process that is killed, or leads no more, leaves statements in QuestDB, which ends
 * them whether or not anybody waits: hours of what is erased meanwhile would come behind the erase.
 */

import type { Exec } from '../../../store/questdb/until-applied.ts'
import { expiredHoursTable, expiredSeriesHoursTable } from '../../../store/tables.ts'

const conditions = [expiredHoursTable, expiredSeriesHoursTable].map(table => `query LIKE 'INSERT INTO ${table} %'`)
const runningSql = `SELECT count() FROM query_activity() WHERE ${conditions.join(' OR ')}`

/** Resolves when QuestDB has ended all of them; its own time limit for a statement bounds that. */
export async function untilNoHoursAreKept(exec: Exec, pause: () => Promise<void>): Promise<void> {
  for (;;) {
    const [running] = await exec(runningSql)
    if (Number(running?.[0]) === 0) return
    await pause()
  }
}
