/** Six days of readings and custom values in real databases, and an archive in a folder. */

import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { type Archive, createArchive } from '../../../../service/lifecycle/archive/archive.ts'
import { openFolder } from '../../../../service/lifecycle/archive/archive-target.ts'
import { dayText } from '../../../../service/lifecycle/retention/expired-days.ts'
import { dayMs } from '../../../../service/lifecycle/retention/horizon.ts'
import { ensureSeriesNames } from '../../../../store/questdb/questdb-tables.ts'
import { temporaryFolder } from '../../../support/databases.ts'
import { until } from '../../../support/processes.ts'
import { client, exec, firstDay, porch, reset, roof, send, store } from '../retention/retention-world.ts'

export const folder = join(temporaryFolder(t), 'archive')
export const target = openFolder(pathToFileURL(folder))
export const expiredStarts = [0, 1, 2].map(day => firstDay + day * dayMs)

export function archiveIn(t: Test, given: Partial<Parameters<typeof createArchive>[0]> = {}): Archive {
  const archive = createArchive({
    ...{ target, pool: store.postgres, replicas: [{ number: 1, questdb: store.questdb }] },
    ...{ directory: join(temporaryFolder(t), 'spool'), reserveBytes: 0 },
    ...given,
  })
  t.teardown(() => archive.close())
  return archive
}

export const gateOf = (archive: Archive) => ({
  archive: { keep: (ms: number) => archive.keep(1, ms), holds: (ms: number) => archive.holds(1, ms) },
})

export const series = [porch, roof].map(({ symbol }, at) => ({ symbol, number: at + 1 }))

/** Readings of six days of two devices, each with a value of a custom metric, and an empty archive. */
export async function fill(): Promise<void> {
  await reset()
  await ensureSeriesNames(client)
  await store.postgres.query('DELETE FROM archived_days')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  await send(porch)
  await send(roof)
  for (const { symbol, number } of series) {
    await exec(`INSERT INTO series_names VALUES (${number * 1_000_000}::timestamp, ${number}, '${symbol}', 'co2')`)
    await exec(`INSERT INTO measurements SELECT ts, ${number}, 400.25 FROM readings WHERE device = '${symbol}'`)
  }
  await until(
    'the values are there',
    async () => Number((await exec('SELECT count() FROM measurements'))[0]?.[0]) === 48,
  )
}

export async function rowsOf(table: string, startMs: number): Promise<unknown> {
  const key = table.startsWith('readings') ? 'device' : 'series'
  const day = dayText(startMs)
  return await exec(
    `SELECT * FROM ${table} WHERE ts >= '${day}' AND ts < dateadd('d', 1, '${day}') ORDER BY ts, ${key}`,
  )
}

export const filesOf = async (archive: Archive, startMs = 0) =>
  (await archive.days(startMs, 100)).flatMap(({ files }) => files)
export const namesIn = (startMs: number, table = 'readings') =>
  readdirSync(join(folder, table, `day=${dayText(startMs)}`))
