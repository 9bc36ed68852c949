/** An epoch of two shards. */

import { addEpoch } from '../../ingest/kafka/placement-rows.ts'
import { withAddedShard } from '../../placement/added-shard.ts'
import { type Epoch, oneShard } from '../../placement/placement.ts'
import { makeClient } from '../../store/postgres/postgres-connect.ts'

/** Half of the devices are on shard 2 from this moment on, the start of a UTC day in microseconds. */
export async function splitShards(connectionString: string, fromUs: number): Promise<Epoch> {
  const client = makeClient({ connectionString })
  await client.connect()
  try {
    await client.query('BEGIN')
    const epoch = await addEpoch(client, () => {
      return { fromUs, shards: withAddedShard(oneShard[0]?.shards as Uint8Array, 1) }
    })
    await client.query('COMMIT')
    return epoch
  } finally {
    await client.end()
  }
}
