/** A second table on the write path: only its description and its writer differ from those of the readings. */

import { join } from 'node:path'
import { test } from 'tap'
import { isWhole } from '../../ingest/forwarder/dead-letter.ts'
import { createWallClock } from '../../ingest/journal/wall-clock.ts'
import { openWritePath, type WritePath } from '../../ingest/write-path.ts'
import type { QuestdbHttp } from '../../store/questdb/client/questdb-address.ts'
import { silentLog, type TestHooks, temporaryFolder } from '../support/databases.ts'
import {
  type PointValues,
  points,
  pointsTableSql,
  pointWriter,
  type SeriesRef,
  seriesOf,
} from '../support/points-table.ts'
import { until } from '../support/processes.ts'
import { startQuestdb } from '../support/questdb.ts'
import { questdbRows } from '../support/questdb-rows.ts'

type PointsPath = WritePath<SeriesRef, PointValues>

function openPoints(t: TestHooks, http: QuestdbHttp, directory: string, isSynced = true): PointsPath {
  const path = openWritePath({
    table: points,
    writer: pointWriter(points),
    directory,
    log: silentLog,
    journalBytesMax: 1024 ** 3,
    reserveBytes: 0,
    keepMs: 3_600_000,
    clock: createWallClock({ nowMs: Date.now }),
    onFatal: error => {
      throw error
    },
  })
  t.teardown(() => path.close())
  path.startForwarding(http, isSynced)
  return path
}

const isApplied = (path: PointsPath) => {
  const { journal, forwarder } = path.status()
  return journal.ordinal === forwarder.appliedOrdinal
}

const atMs = Date.UTC(2026, 0, 1)
/** With zeros in front of it, in line protocol. */
const storedAtUs = 7

function point(value: number, timestampMs: number): PointValues {
  return { timestampMs, values: [value, timestampMs === atMs ? Number.NaN : value / 2, storedAtUs] }
}

test('points of stations go the way of the readings: stored, replaced by key, sent again, put aside', async t => {
  const questdb = await startQuestdb(t)
  const { http } = questdb.address
  await questdbRows({ questdb }, pointsTableSql)
  const directory = join(temporaryFolder(t), 'points')
  const path = openPoints(t, http, directory)
  const dust = seriesOf(1, ['Nord 3', 'PM2.5', 'µg/m³'])
  const ozone = seriesOf(2, ['Nord 3', 'O₃', 'ppb, dry'])

  const answers = await Promise.all([
    path.accept(dust, point(1, atMs)),
    path.accept(ozone, point(2, atMs)),
    path.accept(dust, point(3, atMs + 60_000)),
    // The same station, parameter and time: the later one stays.
    path.accept(dust, point(4, atMs)),
  ])
  t.ok(answers.every(answer => answer === 'stored'))
  await until('they are applied', () => isApplied(path))
  const sql =
    'SELECT station, parameter, unit, ts, value, value_15min, stored_at FROM station_points ORDER BY parameter, ts'
  const rows = [
    ['Nord 3', 'O₃', 'ppb, dry', '2026-01-01T00:00:00.000000Z', 2, null, '1970-01-01T00:00:00.000007Z'],
    ['Nord 3', 'PM2.5', 'µg/m³', '2026-01-01T00:00:00.000000Z', 4, null, '1970-01-01T00:00:00.000007Z'],
    ['Nord 3', 'PM2.5', 'µg/m³', '2026-01-01T00:01:00.000000Z', 3, 1.5, '1970-01-01T00:00:00.000007Z'],
  ]
  t.strictSame(await questdbRows({ questdb }, sql), rows)
  t.ok(path.revision(1) > 0 && path.revision(2) > 0)

  // A replacement later on, over a restart that sends all of it again.
  await path.accept(ozone, point(5, atMs))
  await until('it is applied', () => isApplied(path))
  await path.close()
  const again = openPoints(t, http, directory, false)
  await until('all is sent again', () => again.status().forwarder.rows >= 3 && isApplied(again))
  t.strictSame(await questdbRows({ questdb }, sql), [[...(rows[0] ?? []).with(4, 5)], ...rows.slice(1)])

  // A time before 1970 is refused by QuestDB.
  await again.accept(dust, point(6, -5000))
  await until('it is put aside', async () => (await again.deadLetters.list(-1, 10)).length === 1)
  const [letter] = (await again.deadLetters.list(-1, 10)).filter(isWhole)
  t.equal(letter?.symbol, 'Nord 3 PM2.5 µg/m³')
  t.strictSame(letter?.values, { value: 6, value_15min: 3, stored_at: storedAtUs })
})
