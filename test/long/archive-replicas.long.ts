import { join } from 'node:path'
import t from 'tap'
import { listRawDays } from '../../service/lifecycle/retention/expired-days.ts'
import { openDataDirectory } from '../../store/data-directory.ts'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import { ensureSeriesNames } from '../../store/questdb/questdb-tables.ts'
import { measurementsTableSql, readingsTableSql } from '../../store/tables.ts'
import { startFaultQuestdb } from '../faults/databases.ts'
import { archiveIn, expiredStarts, filesOf, fill, series } from '../service/lifecycle/archive/archive-world.ts'
import { beforeMs, exec, firstDay, ingest, open, porch, store } from '../service/lifecycle/retention/retention-world.ts'
import { temporaryFolder } from '../support/databases.ts'
import { until } from '../support/processes.ts'

t.test('the second of two replicas adds rows that the first one lacked', async t => {
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
