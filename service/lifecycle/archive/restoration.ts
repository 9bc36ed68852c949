/**
 * Restores archived rows to separate tables of QuestDB: rows of expired days are removed from the table of readings.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { QuestdbHttp } from '../../../store/questdb/client/questdb-address.ts'
import type { QuestdbClient } from '../../../store/questdb/client/questdb-client.ts'
import { ensureRestoredTables } from '../../../store/questdb/questdb-tables.ts'
import { untilTableApplied } from '../../../store/questdb/until-applied.ts'
import { listRawDays } from '../retention/expired-days.ts'
import { whereSql } from '../retention/expiring-tables.ts'
import { dayMs } from '../retention/horizon.ts'
import type { ArchiveFiles } from './archive-files.ts'
import { type ArchivedFile, readDay } from './archive-records.ts'
import { archivedNames, archivedTables } from './archived-tables.ts'
import type { Spool } from './spool.ts'

export interface RestorationOptions {
  pool: pg.Pool
  questdbs: () => readonly { client: QuestdbClient; http: QuestdbHttp }[]
  files: () => Pick<ArchiveFiles, 'withCopy'>
  spool: Spool
  signal: AbortSignal
}

const execTimeoutMs = 60_000
const pauseMs = 100

export function createRestoration({ pool, questdbs, files, spool, signal }: RestorationOptions) {
  const pause = async () => void (await sleep(pauseMs, undefined, { signal, ref: false }))

  async function dropRestored(startMs: number): Promise<void> {
    for (const { client } of questdbs()) {
      await ensureRestoredTables(client)
      const exec = (sql: string) => client.exec(sql, execTimeoutMs)
      for (const { restoredTable: name } of archivedNames.map(name => archivedTables[name])) {
        await untilTableApplied(exec, name, pause)
        if (!(await listRawDays(exec, { name })).some(day => day.startMs === startMs)) continue
        await exec(`ALTER TABLE ${name} DROP PARTITION ${whereSql({ fromMs: startMs, toMs: startMs + dayMs })}`)
        await untilTableApplied(exec, name, pause)
      }
    }
  }

  async function restore(file: ArchivedFile): Promise<void> {
    const { table, key, fromMs } = file
    await files().withCopy(file, async path => {
      for (const { client, http } of questdbs()) {
        await ensureRestoredTables(client)
        await spool.run({ kind: 'restore', table, path, http })
        await untilTableApplied(sql => client.exec(sql, execTimeoutMs), archivedTables[table].restoredTable, pause)
      }
    })
    const startMs = Math.floor(fromMs / dayMs) * dayMs
    const day = await readDay(pool, startMs)
    if (day?.files.some(noted => noted.key === key)) return
    // An erasure checks restored rows after it has rewritten the file, and may have run before these were written.
    await dropRestored(startMs)
    throw new Error(`${key} was rewritten meanwhile: restore the day again`)
  }

  return { restore, dropRestored }
}
