/** A QuestDB of a shard, with a gate before its HTTP port, so that it can be away for a while. */

import { join } from 'node:path'
import { openDataDirectory } from '../../store/data-directory.ts'
import { openQuestdb, type Questdb } from '../../store/questdb/questdb.ts'
import { storeOptions, type TestHooks, temporaryFolder } from './databases.ts'
import { openGate, type PgGate } from './pg-gate.ts'
import { until } from './processes.ts'
import { startQuestdb } from './questdb.ts'

export interface GatedQuestdb {
  readonly questdb: Questdb
  /** Resolves when it is known to be away. */
  shut(): Promise<void>
  /** Resolves when it is known to be up. */
  open(): Promise<void>
}

export async function startGatedQuestdb(t: TestHooks): Promise<GatedQuestdb> {
  const { address } = await startQuestdb(t, { isOwn: true })
  const { http } = address
  // The gate passes on whatever comes.
  const gate: PgGate = await openGate(t, { ...address.pg, host: http.host, port: http.port })
  const [, basic = ''] = /^Basic (.*)$/.exec(http.authorization ?? '') ?? []
  const [user = '', password = ''] = Buffer.from(basic, 'base64').toString().split(':')
  const { pg } = address
  const directory = openDataDirectory(join(temporaryFolder(t), 'data'))
  t.teardown(() => directory.close())
  const questdb = await openQuestdb(
    {
      ...storeOptions(directory),
      questdbHttp: `http://${user}:${password}@${gate.address.host}:${gate.address.port}`,
      questdbPg: `postgresql://${pg.user}:${pg.password}@${pg.host}:${pg.port}/${pg.database}`,
    },
    new AbortController().signal,
  )
  t.teardown(() => questdb.close())
  await questdb.ready
  return {
    questdb,
    async shut() {
      await gate.shut()
      await until('it is away', () => questdb.state().state === 'away')
    },
    async open() {
      await gate.open()
      await until('it is up', () => questdb.state().state === 'up')
    },
  }
}
