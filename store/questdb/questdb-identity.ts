/** What a QuestDB is, and whether it is reached by both of its protocols with what was given. */

import pg from 'pg'
import type { QuestdbAddress } from './questdb-address.ts'
import type { QuestdbClient } from './questdb-client.ts'
import { type Parameter, readParameters } from './questdb-settings.ts'

const askTimeoutMs = 5000
/** The first with binary doubles in the line protocol. */
const majorMin = 9

export interface QuestdbIdentity {
  version: string
  parameters: ReadonlyMap<string, Parameter>
}

/** Rejects with what is in the way. */
export async function identifyQuestdb(client: QuestdbClient, address: QuestdbAddress): Promise<QuestdbIdentity> {
  const build = String((await client.exec('SELECT build', askTimeoutMs))[0]?.[0] ?? '')
  const version = /QuestDB (\S+?),/.exec(build)?.[1] ?? build
  if (Number.parseInt(version, 10) < majorMin)
    throw new Error(`it is version ${version}; ${majorMin}.0 or newer is needed`)
  const parameters = await readParameters(client)
  await checkPg(address)
  return { version, parameters }
}

/** Reads go over the PostgreSQL protocol, which has an address and a password of its own. */
async function checkPg({ pg: { host, port, ...access } }: QuestdbAddress): Promise<void> {
  const client = new pg.Client({
    host,
    port,
    ...access,
    connectionTimeoutMillis: askTimeoutMs,
    query_timeout: askTimeoutMs,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('SELECT 1')
  } catch (error) {
    throw new Error(
      `over the PostgreSQL protocol at ${host}:${port}: ${error instanceof Error ? error.message : String(error)}`,
    )
  } finally {
    await client.end().catch(() => undefined)
  }
}
