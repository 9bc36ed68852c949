/** Forwards a replica for tests. */

import { join } from 'node:path'
import pg from 'pg'
import { connectKafka, type KafkaOptions } from '../../../ingest/kafka/client/connect.ts'
import { type ReplicaForwarder, startReplicaForwarder } from '../../../ingest/kafka/consume/replica-forwarder.ts'
import { acquireReplica } from '../../../ingest/kafka/state/lock.ts'
import { createTopicSettler } from '../../../ingest/kafka/state/settle.ts'
import { createReplicaState } from '../../../ingest/kafka/state/state.ts'
import { readings } from '../../../ingest/readings-table.ts'
import type { Log } from '../../../store/log.ts'
import { makeClient } from '../../../store/postgres/postgres-connect.ts'
import type { QuestdbHttp } from '../../../store/questdb/client/questdb-address.ts'
import { silentLog } from '../../support/databases.ts'

export interface TestReplica {
  /** The name of the process. */
  holder: string
  /** Topic of readings, for replica 1. */
  topic: string
  folder: string
  kafka: KafkaOptions
  postgres: string
  questdb: QuestdbHttp
}

export function forwardReplica(replica: TestReplica, log: Log = silentLog): ReplicaForwarder {
  const { holder, topic, folder, kafka, postgres, questdb } = replica
  const pool = new pg.Pool({ connectionString: postgres, max: 3 })
  pool.on('error', () => undefined)
  async function connect() {
    const client = makeClient({ connectionString: postgres })
    await client.connect()
    return client
  }
  const connected = connectKafka(kafka)
  const settler = createTopicSettler({
    database: pool,
    questdb,
    partition: async topic => (await connected).partition(topic),
    tables: new Map([[topic, readings]]),
    acceptedMs: undefined,
    nowMs: Date.now,
  })
  const forwarder = startReplicaForwarder({
    topics: [{ topic, table: readings, directory: join(folder, topic), damagedDirectory: join(folder, 'damaged') }],
    kafka,
    bytesMax: 64 * 1024 * 1024,
    reserveBytes: 0,
    keepMs: 0,
    log,
    onFatal: error => {
      throw error
    },
    acquire: signal => acquireReplica({ replica: 1, holder, connect, log }, signal),
    createState: tenure => createReplicaState({ pool, tenure, tables: new Map([[topic, readings]]) }),
    settle: settler.settle,
    openQuestdb: async () => ({ questdb, isSynced: true, customSeries: new Uint32Array() }),
  })
  let closing: Promise<void> | undefined
  return {
    status: forwarder.status,
    close() {
      closing ??= forwarder.close().then(async () => {
        settler.close()
        await (await connected).close()
        await pool.end()
      })
      return closing
    },
  }
}
