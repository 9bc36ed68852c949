/** The readings and hours of a real QuestDB, and its values of series, as queries read them. */

import { createMeasurementsSource, type MeasurementsSource } from '../../query/questdb/measurements-source.ts'
import { createReadingsSource, type ReadingsSource } from '../../query/questdb/readings-source.ts'
import type { QuestdbAddress } from '../../store/questdb/client/questdb-address.ts'
import { createPgConnection } from '../../store/questdb/client/questdb-pg.ts'
import type { TestHooks } from './databases.ts'

export function openReadingsSource(t: TestHooks, questdb: QuestdbAddress): ReadingsSource {
  const settings = { questdb, connectTimeoutMs: 3000, statementTimeoutMs: 20_000 }
  const connection = createPgConnection(questdb.pg, settings)
  const source = createReadingsSource(settings, connection)
  t.teardown(() => connection.close())
  t.teardown(() => source.close())
  return source
}

export function openMeasurementsSource(t: TestHooks, questdb: QuestdbAddress): MeasurementsSource {
  const settings = { questdb, connectTimeoutMs: 3000, statementTimeoutMs: 20_000 }
  const connection = createPgConnection(questdb.pg, settings)
  const source = createMeasurementsSource(settings, connection)
  t.teardown(() => connection.close())
  t.teardown(() => source.close())
  return source
}
