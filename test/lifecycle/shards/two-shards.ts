/** A registry in PostgreSQL, and two shards with a journal and a QuestDB each, the second of which can be away. */

import t from 'tap'
import { NewDevice } from '../../../auth/devices/device.ts'
import { createQuestdbClient } from '../../../store/questdb/client/questdb-client.ts'
import type { Exec } from '../../../store/questdb/until-applied.ts'
import { openParts } from '../../support/admin.ts'
import { startDatabases } from '../../support/databases.ts'
import { type GatedQuestdb, startGatedQuestdb } from '../../support/gated-questdb.ts'
import { records } from '../../support/journal-parts.ts'
import { until } from '../../support/processes.ts'

interface Named {
  readonly number: number
  readonly symbol: string
}

export async function startTwoShards() {
  const { store } = await startDatabases(t)
  await store.questdb.ready
  const gated: GatedQuestdb = await startGatedQuestdb(t)
  const [parts, others] = [await openParts(t, store), await openParts(t, store)]
  const shards = [
    { number: 1, questdb: store.questdb, ingest: parts.ingest },
    { number: 2, questdb: gated.questdb, ingest: others.ingest },
  ].map(shard => {
    shard.ingest.startForwarding(shard.questdb.address.http, true)
    const client = createQuestdbClient(shard.questdb.address.http)
    t.teardown(() => client.close())
    const exec: Exec = sql => client.exec(sql, 30_000)
    return { ...shard, exec }
  })
  const { devices } = parts

  async function addDevice(name: string): Promise<Named> {
    await devices.add([NewDevice.parse({ name })], 'test')
    const device = devices.get(name)
    if (device === undefined) throw new Error('the device was not made')
    return device
  }

  /** A reading at each of these moments. */
  async function send(shard: number, device: Named, timesMs: readonly number[]): Promise<void> {
    const { ingest } = shards[shard - 1] as (typeof shards)[number]
    for (const timeMs of timesMs) await ingest.append(records(device, [20], timeMs * 1000, true))
    await until('all is applied', () => ingest.status().lag.rows === 0)
  }

  /** The first column of the first row that a shard answers. */
  async function ask(shard: number, sql: string): Promise<unknown> {
    return (await shards[shard - 1]?.exec(sql))?.[0]?.[0]
  }

  return { ...parts, store, gated, shards, addDevice, send, ask }
}
