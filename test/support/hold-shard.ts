/** A process for tests: takes a shard, and answers each message with whether it may send. */

import { acquireShard } from '../../ingest/kafka/shard-lock.ts'
import { makeClient } from '../../store/postgres/postgres-connect.ts'
import { silentLog } from './databases.ts'

const [, , connectionString = '', shard = ''] = process.argv

async function connect() {
  const client = makeClient({ connectionString })
  await client.connect()
  return client
}

const { signal } = new AbortController()
const held = await acquireShard({ shard, holder: 'child', connect, log: silentLog }, signal)
process.on('message', () => process.send?.(held.isHeld()))
process.send?.('held')
