/** Commits one change after the other: in PostgreSQL first, then in memory, and says what came of it. */

import type pg from 'pg'
import { isDatabaseAway, isNameTaken } from './database-fault.ts'
import type { DeviceMemory } from './device-memory.ts'
import type { DeviceRecord, DeviceRow } from './device-record.ts'
import { readNamed } from './device-sql.ts'
import type { Turns } from './turns.ts'

/** Why a change was not made. After DATABASE_AWAY it may have been made all the same; memory finds out by itself. */
export type Refusal =
  | { ok: false; code: 'NAME_TAKEN' | 'NAME_TWICE'; names: string[] }
  | { ok: false; code: 'DEVICE_UNKNOWN' | 'REGISTRY_FULL' | 'TOO_MANY_CHANGES' | 'DATABASE_AWAY' }
export type Changed<Value> = { ok: true; value: Value } | Refusal

export interface CommitOptions {
  pool: pg.Pool
  memory: DeviceMemory
  turns: Turns
  /** A change that began at this sequence number met no database, so its outcome is unknown. */
  outcomeUnknown: (sequence: number, error: unknown) => void
}

export interface Commits {
  /** One change at a time, so that memory moves in the order of the commits. `names` are those that it gives away. */
  inTurn<Value>(names: readonly string[], work: () => Promise<Changed<Value>>): Promise<Changed<Value>>
  /** Changes one record, within a turn. */
  commit<Value>(
    record: DeviceRecord | undefined,
    update: (record: DeviceRecord) => Promise<DeviceRow | undefined>,
    answer: (record: DeviceRecord) => Value,
  ): Promise<Changed<Value>>
}

const unknownDevice = { ok: false, code: 'DEVICE_UNKNOWN' } as const

export function createCommits({ pool, memory, turns, outcomeUnknown }: CommitOptions): Commits {
  /** PostgreSQL knows a name that memory does not: from now on both do. */
  async function nameTaken(error: unknown, names: readonly string[]): Promise<Refusal> {
    if (!isNameTaken(error)) throw error
    const rows = await readNamed(pool, names)
    for (const row of rows) memory.take(row)
    return { ok: false, code: 'NAME_TAKEN', names: rows.map(row => row.name) }
  }

  return {
    inTurn: async (names, work) => {
      const sequence = memory.sequence()
      try {
        const outcome = await turns.take(() => work().catch(error => nameTaken(error, names)))
        return outcome === 'full' ? { ok: false, code: 'TOO_MANY_CHANGES' } : outcome
      } catch (error) {
        if (!isDatabaseAway(error)) throw error
        outcomeUnknown(sequence, error)
        return { ok: false, code: 'DATABASE_AWAY' }
      }
    },
    commit: async (record, update, answer) => {
      if (record === undefined) return unknownDevice
      const row = await update(record)
      if (row === undefined) {
        // PostgreSQL no longer has it, so nobody may come in with it.
        memory.drop(record.number)
        return unknownDevice
      }
      memory.take(row)
      return { ok: true, value: answer(record) }
    },
  }
}
