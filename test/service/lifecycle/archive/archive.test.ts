/** The archive of raw days over real databases: written, read by another engine, restored, erased, and left whole by faults. */

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { DuckDBInstance } from '@duckdb/node-api'
import t from 'tap'
import { type ArchiveTarget, openFolder } from '../../../../service/lifecycle/archive/archive-target.ts'
import { dayText } from '../../../../service/lifecycle/retention/expired-days.ts'
import { until } from '../../../support/processes.ts'
import { beforeMs, exec, firstDay, open, porch, rawStarts, roof, store } from '../retention/retention-world.ts'
import {
  archiveIn,
  expiredStarts,
  filesOf,
  fill,
  folder,
  gateOf,
  namesIn,
  rowsOf,
  series,
  target,
} from './archive-world.ts'

const duckdb = await (await DuckDBInstance.create(':memory:')).connect()
t.teardown(() => duckdb.closeSync())

/** The statement of docs/archive.md. */
const page = readFileSync(join(import.meta.dirname, '../../../../docs/archive.md'), 'utf8')
const documented = page.split('```sql\n')[1]?.split('```')[0] ?? ''

/** Runs a statement in DuckDB, in the folder of the test. */
async function asked(sql: string): Promise<unknown[][]> {
  return (await duckdb.runAndReadAll(sql.replaceAll('/var/archive', folder))).getRowsJson() as unknown[][]
}

t.test('a day is archived before it expires, read by another engine, and restored', async t => {
  await fill()
  const raw = [await rowsOf('readings', firstDay), await rowsOf('measurements', firstDay)]
  const archive = archiveIn(t)
  const retention = await open(t, gateOf(archive))
  await until('the days have expired', () => retention.state().oldestDayMs === beforeMs)
  t.equal(retention.state().waiting, undefined)
  t.strictSame(
    (await archive.days(0, 10)).map(({ startMs, files }) => [
      startMs,
      files.map(({ table, sums }) => [table, sums[0]]),
    ]),
    expiredStarts.map(startMs => [
      startMs,
      [
        ['readings', '8'],
        ['measurements', '8'],
      ],
    ]),
  )
  for (const file of await filesOf(archive)) t.equal(await archive.fault(file), undefined, file.key)
  t.strictSame(
    await asked(documented),
    expiredStarts.flatMap((startMs, at) => series.map(({ symbol }) => [dayText(startMs), symbol, '4', 8.75 - at])),
  )
  t.strictSame(
    await asked(
      `SELECT DISTINCT series, device, metric, value FROM '/var/archive/measurements/*/*.parquet' ORDER BY series`,
    ),
    series.map(({ symbol, number }) => [number, symbol, 'co2', 400.25]),
  )
  const [first] = await archive.days(firstDay, 1)
  for (const file of first?.files ?? []) await archive.restore(file)
  t.strictSame([await rowsOf('readings_restored', firstDay), await rowsOf('measurements_restored', firstDay)], raw)
  await archive.dropRestored(firstDay)
  t.strictSame(await rowsOf('readings_restored', firstDay), [])
  const [path = ''] = namesIn(firstDay).map(name => join(folder, 'readings', `day=${dayText(firstDay)}`, name))
  writeFileSync(path, 'PAR1')
  t.match(await archive.fault((await filesOf(archive))[0] as never), /is damaged in the archive/)
})

t.test('late rows of an expired day join its files, which an erase rewrites', async t => {
  await fill()
  const archive = archiveIn(t)
  const retention = await open(t, gateOf(archive))
  await until('the days have expired', () => retention.state().oldestDayMs === beforeMs)
  const at = (minute: number) => `'${new Date(firstDay + minute * 60_000).toISOString()}'`
  await exec(`INSERT INTO readings (ts, device, temperature) VALUES (${at(7)}, '${porch.symbol}', -3.5)`)
  await exec(
    `INSERT INTO readings (ts, device, temperature) SELECT ts, device, 99.5 FROM (SELECT ${at(720)}::timestamp ts, '${roof.symbol}' device FROM long_sequence(1))`,
  )
  await until('they are archived and gone', async () => {
    const rows = (await filesOf(archive)).reduce((sum, { sums }) => sum + Number(sums[0]), 0)
    return rows === 49 && (await rawStarts())[0] === beforeMs
  })
  await retention.close()
  t.strictSame(
    await asked(
      `SELECT device, count(*)::INT, min(temperature), max(temperature) FROM '/var/archive/readings/day=${dayText(firstDay)}/*.parquet' GROUP BY ALL ORDER BY ALL`,
    ),
    [
      [porch.symbol, 5, -3.5, 12],
      [roof.symbol, 4, 7, 99.5],
    ],
  )
  const job = { numbers: [porch.number], symbols: [porch.symbol], customSeries: [1] }
  // An earlier run ended in QuestDB with these rows: an hour without values still shows the day.
  await exec(
    `INSERT INTO readings_hours (ts, device) SELECT ts, device FROM readings_hours WHERE device = '${porch.symbol}'`,
  )
  t.equal(await archive.erase('readings', job, async () => 'erased'), 'erased')
  for (const table of ['readings', 'measurements']) {
    t.strictSame(await asked(`SELECT DISTINCT device FROM '/var/archive/${table}/*/*.parquet'`), [[roof.symbol]])
    for (const startMs of expiredStarts)
      t.equal(namesIn(startMs, table).length, table === 'readings' && startMs === firstDay ? 2 : 1)
  }
  for (const file of await filesOf(archive)) t.equal(await archive.fault(file), undefined, file.key)
})

/** Fails at one of the calls, before or behind its work, as a process that is killed there leaves the archive. */
function failingAt(call: number, isBehind: boolean): { target: ArchiveTarget; calls: () => number } {
  let calls = 0
  const failing = <Words extends unknown[], Result>(work: (...words: Words) => Promise<Result>) => {
    return async (...words: Words): Promise<Result> => {
      const fails = calls++ === call
      if (fails && !isBehind) throw new Error('ENOSPC: no space left on device')
      const result = await work(...words)
      if (!fails) return result
      if (result instanceof Readable) result.destroy()
      throw new Error('the archive went away')
    }
  }
  const { name, put, get, list, remove } = target
  const broken = { name, put: failing(put), get: failing(get), list: failing(list), remove: failing(remove) }
  return { target: broken, calls: () => calls }
}

t.test('no day expires that the archive does not have, wherever archiving ends', async t => {
  await fill()
  const starts = await rawStarts()
  for (let call = 0; ; call++) {
    await store.postgres.query('DELETE FROM archived_days')
    const broken = failingAt(call, call % 2 === 1)
    const keeping = archiveIn(t, { target: broken.target }).keep(1, firstDay)
    const failure = await keeping.then(
      () => undefined,
      error => error.message,
    )
    if (broken.calls() <= call) break
    t.match(failure, /^archive file:/, `call ${call}`)
    const after = archiveIn(t)
    await after.keep(1, firstDay)
    const keys = (await filesOf(after)).map(({ key }) => key)
    const present = ['readings', 'measurements'].flatMap(table =>
      namesIn(firstDay, table).map(name => `${table}/day=${dayText(firstDay)}/${name}`),
    )
    t.strictSame(present, keys, `call ${call}: no left-overs`)
  }
  const note = store.postgres.query.bind(store.postgres)
  const noNotes = {
    query: (given: never) =>
      /INSERT INTO archived_days/.test((given as { text: string }).text)
        ? Promise.reject(new Error('no note'))
        : note(given),
  }
  await store.postgres.query('DELETE FROM archived_days')
  for (const given of [
    { pool: noNotes as never },
    { reserveBytes: Number.MAX_SAFE_INTEGER },
    { target: openFolder(pathToFileURL(`${folder}-away`)) },
  ]) {
    const retention = await open(t, gateOf(archiveIn(t, given)))
    await until('it waits', () => retention.state().waiting?.reason === 'archive_unavailable')
    t.match(retention.state().waiting, { fromMs: firstDay, beforeMs, days: 3 })
    t.match(retention.state().fault, /^archive file:.*(no note|bytes free|ENOENT)/)
    t.notOk(await retention.confirm(beforeMs), 'a person cannot confirm it')
    await retention.close()
    t.strictSame(await rawStarts(), starts)
  }
  const retention = await open(t, gateOf(archiveIn(t)))
  await until('they expire when it is back', () => retention.state().oldestDayMs === beforeMs)
  await retention.close()
  renameSync(join(folder, 'barograph-archive'), join(folder, 'other'))
  await t.rejects(archiveIn(t).keep(1, firstDay), /is it mounted/)
  await t.rejects(
    archiveIn(t, { target: undefined }).erase(
      'readings',
      { numbers: [], symbols: [], customSeries: [] },
      async () => 0,
    ),
    /ARCHIVE_URL is not set/,
  )
})
