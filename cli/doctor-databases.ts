/** For the doctor: connects to the external databases as the service would, without changing anything. */

import { connectFailure, makeClient } from '../store/postgres/postgres-connect.ts'
import { parseQuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import { createQuestdbClient } from '../store/questdb/client/questdb-client.ts'
import { identifyQuestdb } from '../store/questdb/questdb-identity.ts'
import { StartError } from '../store/start-error.ts'
import { messageOf } from './command-error.ts'

export interface Finding {
  ok: boolean
  finding: string
}

export async function tryPostgres(databaseUrl: string): Promise<Finding> {
  const client = makeClient({ connectionString: databaseUrl })
  try {
    await client.connect()
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
    const where = `${client.host}:${client.port}, database ${client.database}`
    return { ok: true, finding: `${rows[0]?.server_version} at ${where}` }
  } catch (error) {
    return { ok: false, finding: connectFailure(client, true, error) }
  } finally {
    await client.end().catch(() => undefined)
  }
}

export async function tryQuestdb(questdbHttp: string, questdbPg: string | undefined): Promise<Finding> {
  try {
    const address = parseQuestdbAddress(questdbHttp, questdbPg)
    const where = `${address.http.host}:${address.http.port}`
    const client = createQuestdbClient(address.http)
    try {
      const { version } = await identifyQuestdb(client, address)
      return { ok: true, finding: `${version} at ${where}` }
    } catch (error) {
      return {
        ok: false,
        finding: `QuestDB at ${where} cannot be used (${messageOf(error)}): start it, or correct QUESTDB_HTTP and QUESTDB_PG`,
      }
    } finally {
      client.close()
    }
  } catch (error) {
    if (error instanceof StartError) return { ok: false, finding: error.message }
    throw error
  }
}
