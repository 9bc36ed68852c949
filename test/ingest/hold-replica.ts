/** A process for tests. It takes a replica and reports whether it may send, then and after a file announces its successor. */

import { existsSync } from 'node:fs'
import { acquireReplica } from '../../ingest/kafka/state/lock.ts'
import { makeClient } from '../../store/postgres/postgres-connect.ts'
import { silentLog } from '../support/databases.ts'

const [, , connectionString = '', replica = '', successor = ''] = process.argv

async function connect() {
  const client = makeClient({ connectionString })
  await client.connect()
  return client
}

/** Blocks until the file exists. Meanwhile it handles neither timers nor events of the connection. */
function blockUntil(path: string): void {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  while (!existsSync(path)) Atomics.wait(cell, 0, 0, 10)
}

const { signal } = new AbortController()
const held = await acquireReplica({ replica: Number(replica), holder: 'child', connect, log: silentLog }, signal)
process.send?.(held.isHeld(), () => {
  blockUntil(successor)
  process.send?.(held.isHeld())
})
