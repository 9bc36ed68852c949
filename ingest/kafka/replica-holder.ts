/** The process that forwards a replica, for operators. */

import type { Transaction } from '../../store/postgres/transaction.ts'

export interface ReplicaHolder {
  /** The host and the process; undefined where the replica was given back. One that was killed stays until another one has it. */
  holder: string | undefined
  takenMs: number | undefined
}

/** The holder of replica 1; undefined before a process has held it. */
export async function readReplicaHolder(database: Transaction): Promise<ReplicaHolder | undefined> {
  const { rows } = await database.query<{ holder: string | null; taken_at: Date | null }>(
    "SELECT holder, taken_at FROM replicas WHERE name = 's1'",
  )
  const [row] = rows
  return row && { holder: row.holder ?? undefined, takenMs: row.taken_at?.getTime() }
}
