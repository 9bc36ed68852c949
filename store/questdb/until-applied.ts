/** Waits until QuestDB shows what it has taken. */

import type { QuestdbClient } from './client/questdb-client.ts'

/** Runs one statement of ours. */
export type Exec = (sql: string) => ReturnType<QuestdbClient['exec']>

/**
 * An answer to a statement means that it is in the table's log; what it says holds when the writer has come past it. Resolves
 * to that transaction.
 */
export async function untilTableApplied(exec: Exec, table: string, pause: () => Promise<void>): Promise<number> {
  let target: number | undefined
  for (;;) {
    const [row] = await exec(`SELECT sequencerTxn, writerTxn FROM wal_tables() WHERE name = '${table}'`)
    target ??= Number(row?.[0])
    if (Number(row?.[1]) >= target) return target
    await pause()
  }
}
