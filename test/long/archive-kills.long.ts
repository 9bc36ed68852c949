/** The archive under SIGKILL at each of its steps, and with two replicas of QuestDB. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { postgresUrl } from '../../cli/demo/cluster/database-settings.ts'
import { dayText, listRawDays } from '../../service/lifecycle/retention/expired-days.ts'
import { dayMs } from '../../service/lifecycle/retention/horizon.ts'
import { openDataDirectory } from '../../store/data-directory.ts'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import { ensureSeriesNames } from '../../store/questdb/questdb-tables.ts'
import { measurementsTableSql, readingsTableSql } from '../../store/tables.ts'
import { startFaultQuestdb } from '../faults/databases.ts'
import {
  archiveIn,
  expiredStarts,
  filesOf,
  fill,
  folder,
  gateOf,
  namesIn,
  series,
} from '../service/lifecycle/archive/archive-world.ts'
import type { ArchiveKill } from '../service/lifecycle/archive/archiving-process.ts'
import {
  address,
  beforeMs,
  exec,
  firstDay,
  ingest,
  keptDays,
  open,
  porch,
  rawStarts,
  store,
} from '../service/lifecycle/retention/retention-world.ts'
import { temporaryFolder } from '../support/databases.ts'
import { until } from '../support/processes.ts'

const script = join(import.meta.dirname, '..', 'service', 'lifecycle', 'archive', 'archiving-process.ts')
const parent = join(import.meta.dirname, '..', 'support', 'end-with-parent.ts')

/** Resolves to the name of the step at which it was killed; undefined where it ended by itself. */
async function kill(given: ArchiveKill): Promise<string | undefined> {
  const child = spawn(process.execPath, [`--import=${parent}`, script], {
    env: { ...process.env, ARCHIVE_KILL: JSON.stringify(given) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [name, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (signal === null && code !== 0) throw new Error(`the process ended with ${code}`)
  return signal === null ? undefined : name
}

t.test('wherever archiving is killed, no day expires that is not archived, and the next run ends it', async t => {
  const names = new Set<string>()
  for (let step = 0, isOver = false; !isOver; step++) {
    for (const when of ['before', 'after'] as const) {
      await fill()
      // What an earlier process has left.
      const left = join(folder, 'readings', `day=${dayText(firstDay)}`)
      mkdirSync(left, { recursive: true })
      writeFileSync(join(left, '00-left.parquet'), '')
      const starts = await rawStarts()
      const spool = join(temporaryFolder(t), 'spool')
      const given = { address, postgresUrl: postgresUrl(store.postgres), folder, spool, step, when }
      const name = await kill({ ...given, beforeMs: firstDay + dayMs })
      isOver = name === undefined
      if (name === undefined) break
      names.add(name)
      const at = `${when} step ${step}, ${name}`
      const archive = archiveIn(t, { directory: spool })
      if (!(await rawStarts()).includes(firstDay)) {
        t.same(
          (await archive.days(0, 9)).map(({ startMs }) => startMs),
          [firstDay],
          `${at}: a removed day is noted`,
        )
      }
      for (const file of await filesOf(archive)) t.equal(await archive.fault(file), undefined, `${at}: ${file.key}`)
      t.strictSame((await rawStarts()).slice(-starts.length + 1), starts.slice(1), `${at}: no other day expires`)
      const retention = await open(t, gateOf(archive))
      await until('it is ended', () => retention.state().oldestDayMs === beforeMs)
      await retention.close()
      t.strictSame(await rawStarts(), keptDays, at)
      const files = await filesOf(archive, firstDay)
      t.strictSame([...new Set(files.map(({ sums }) => sums[0]))], ['8'], at)
      for (const table of ['readings', 'measurements'])
        t.equal(namesIn(firstDay, table).length, 1, `${at}: no left-overs`)
    }
  }
  t.strictSame([...names].sort(), ['expire', 'note', 'read back', 'remove', 'write'])
})

t.test('of two replicas the second one adds the rows that the first one lacked, and both hold the day', async t => {
  await fill()
  const directory = openDataDirectory(join(temporaryFolder(t), 'second'))
  t.teardown(() => directory.close())
  const second = await startFaultQuestdb(t, directory)
  const other = createQuestdbClient(second.address.http)
  t.teardown(() => other.close())
  const execOther = (sql: string) => other.exec(sql, 30_000)
  for (const sql of [readingsTableSql, measurementsTableSql]) await execOther(sql)
  await ensureSeriesNames(other)
  for (const { symbol, number } of series)
    await execOther(`INSERT INTO series_names VALUES (${number * 1_000_000}::timestamp, ${number}, '${symbol}', 'co2')`)
  const rows = await exec('SELECT cast(ts AS LONG), device, temperature FROM readings')
  const values = rows.map(([ts, device, temperature]) => `(${ts}::timestamp, '${device}', ${temperature})`)
  const late = `(${(firstDay + 60_000) * 1000}::timestamp, '${porch.symbol}', -3.5)`
  await execOther(`INSERT INTO readings (ts, device, temperature) VALUES ${[...values, late].join(', ')}`)
  await until('they are there', async () => {
    const [row] = await execOther('SELECT count() FROM readings')
    return Number(row?.[0]) === values.length + 1
  })
  const replicas = [
    { number: 1, questdb: store.questdb },
    { number: 2, questdb: { address: second.address } },
  ]
  const archive = archiveIn(t, { replicas })
  await archive.keep(1, firstDay)
  t.ok(await archive.holds(1, firstDay))
  t.notOk(await archive.holds(2, firstDay), 'it has a row more')
  await archive.keep(2, firstDay)
  t.ok(await archive.holds(2, firstDay))
  const readings = (await filesOf(archive)).filter(({ table }) => table === 'readings')
  t.equal(
    readings.reduce((sum, { sums }) => sum + Number(sums[0]), 0),
    9,
  )
  for (const file of await filesOf(archive)) {
    t.equal(await archive.fault(file), undefined)
    await archive.restore(file)
  }
  for (const sql of [exec, execOther]) t.strictSame(await sql('SELECT count() FROM readings_restored'), [[9]])
  const gate = (number: number) => ({
    archive: { keep: (ms: number) => archive.keep(number, ms), holds: (ms: number) => archive.holds(number, ms) },
  })
  const first = { ...ingest.replicas[0], endOfAll: ingest.endOfAll }
  const up = { ready: Promise.resolve(), state: () => ({ state: 'up' as const }) }
  const readingsOfOther = { endOfAll: ingest.endOfAll, applied: () => Number.MAX_SAFE_INTEGER, onLost: () => undefined }
  const retention = await open(t, {
    replicas: [
      { number: 1, questdb: store.questdb, exec, readings: first, ...gate(1) },
      { number: 2, questdb: up, exec: execOther, readings: readingsOfOther, ...gate(2) },
    ],
  })
  for (const sql of [exec, execOther]) {
    const starts = async () => (await listRawDays(sql)).map(({ startMs }) => startMs)
    await until('its days have expired', async () => (await starts())[0] === beforeMs)
  }
  t.equal(retention.state().waiting, undefined)
  t.strictSame(
    (await archive.days(0, 9)).map(({ startMs }) => startMs),
    expiredStarts,
    'although the replicas differ',
  )
})
