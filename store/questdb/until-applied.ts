/** Waits until rows that QuestDB has accepted are visible. */

import type { QuestdbClient } from './client/questdb-client.ts'

/** Runs one of our own statements. */
export type Exec = (sql: string) => ReturnType<QuestdbClient['exec']>

/** An answered statement is in the table's log. It takes effect when the writer has passed it. Resolves to that transaction. */
export async function untilTableApplied(exec: Exec, table: string, pause: () => Promise<void>): Promise<number> {
  let target: number | undefined
  for (;;) {
    const [row] = await exec(`SELECT sequencerTxn, writerTxn FROM wal_tables() WHERE name = '${table}'`)
    target ??= Number(row?.[0])
    if (Number(row?.[1]) >= target) return target
    await pause()
  }
}
