/** The readings and hours of a real QuestDB, and its values of series, as queries read them. */

import { createValuesSource, type MeasurementsSource } from '../../query/questdb/measurements-source.ts'
import { createColumnsReader } from '../../query/questdb/questdb-export.ts'
import { createReadingsSource, type ReadingsSource } from '../../query/questdb/readings-source.ts'
import { measurementValues } from '../../query/questdb/values-table.ts'
import type { QuestdbAddress } from '../../store/questdb/client/questdb-address.ts'
import { createPgConnection } from '../../store/questdb/client/questdb-pg.ts'
import type { TestHooks } from './databases.ts'

export function openReadingsSource(t: TestHooks, questdb: QuestdbAddress): ReadingsSource {
  const { reader, connection } = openReads(t, questdb)
  return createReadingsSource(reader, connection)
}

export function openMeasurementsSource(t: TestHooks, questdb: QuestdbAddress): MeasurementsSource {
  const { reader, connection } = openReads(t, questdb)
  return createValuesSource(reader, connection, measurementValues)
}

function openReads(t: TestHooks, questdb: QuestdbAddress) {
  const settings = { questdb, connectTimeoutMs: 3000, statementTimeoutMs: 20_000 }
  const connection = createPgConnection(questdb.pg, settings)
  const reader = createColumnsReader(settings, connection)
  t.teardown(() => connection.close())
  t.teardown(() => reader.close())
  return { reader, connection }
}
