/**
 * An older build's journal is opened and replayed. The build knew readings only and kept no `stamps` file. The fixture
 * has three segments, the last with zeros from a killed process, without a checkpoint. `older-journal.json` has the
 * expected rows.
 */

import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { createWallClock } from '../../ingest/journal/wall-clock.ts'
import { metrics, readingsTable } from '../../store/tables.ts'
import { temporaryFolder } from '../support/databases.ts'
import { device, reading } from '../support/journal-parts.ts'
import { until } from '../support/processes.ts'
import { startQuestdb } from '../support/questdb.ts'
import { questdbRows } from '../support/questdb-rows.ts'
import { openTestIngest } from './open-ingest.ts'

type Row = [symbol: string, timeUs: number, ...values: (number | null)[]]

const fixtures = join(import.meta.dirname, 'fixtures')
/** Time at which the last group was written. */
const writtenMs = Date.UTC(2026, 0, 2, 3, 4, 7)

test('a journal of an older build is replayed, row by row', async t => {
  const questdb = await startQuestdb(t)
  const directory = join(temporaryFolder(t), 'journal')
  cpSync(join(fixtures, 'older-journal'), directory, { recursive: true })
  const rows: Row[] = JSON.parse(readFileSync(join(fixtures, 'older-journal.json'), 'utf8'))

  const path = openTestIngest(t, { directory, clock: createWallClock({ nowMs: () => writtenMs }) })
  const { journal } = path.status()
  t.match(journal, { ordinal: 60, end: 4836, bytes: 4836, tornBytes: 0, issue: undefined })
  path.startForwarding(questdb.address.http, true)
  const isApplied = () => path.status().lag.rows === 0
  await until('it is applied', isApplied)

  const sql = `SELECT device, ts::long, ${metrics.join(', ')} FROM ${readingsTable} ORDER BY ts, device`
  t.strictSame(await questdbRows({ questdb }, sql), rows)
  t.equal(path.status().forwarder.damagedBytes, 0)

  // New stamps are above all of the journal.
  t.equal(await path.accept(device(1), reading(7)), 'stored')
  await until('it is applied', isApplied)
  const all = await questdbRows({ questdb }, sql)
  t.equal(all.length, rows.length + 1)
  const stampsUs = rows.map(([, timeUs]) => timeUs).filter(timeUs => timeUs % 1000 !== 0)
  t.ok(Number(all.at(-1)?.[1]) > Math.max(...stampsUs))
})
