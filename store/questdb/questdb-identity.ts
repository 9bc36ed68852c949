/** Identifies a QuestDB, and checks that both of its protocols are reachable at its address. */

import type { QuestdbAddress } from './client/questdb-address.ts'
import type { QuestdbClient } from './client/questdb-client.ts'
import { QuestdbError, questdbError } from './client/questdb-error.ts'
import { createPgConnection } from './client/questdb-pg.ts'
import { type Parameter, readParameters } from './questdb-settings.ts'

const askTimeoutMs = 5000
/** The first major version with binary doubles in the line protocol. */
const majorMin = 9

export interface QuestdbIdentity {
  version: string
  parameters: ReadonlyMap<string, Parameter>
}

/** Rejects with the obstacle. */
export async function identifyQuestdb(client: QuestdbClient, address: QuestdbAddress): Promise<QuestdbIdentity> {
  const build = String((await client.exec('SELECT build', askTimeoutMs))[0]?.[0] ?? '')
  const version = /QuestDB (\S+?),/.exec(build)?.[1] ?? build
  if (Number.parseInt(version, 10) < majorMin)
    throw new Error(`it is version ${version}; ${majorMin}.0 or newer is needed`)
  const parameters = await readParameters(client)
  await checkPg(address)
  return { version, parameters }
}

/** Reads use the PostgreSQL protocol, which has a separate address and password. */
async function checkPg({ pg }: QuestdbAddress): Promise<void> {
  const connection = createPgConnection(pg, { connectTimeoutMs: askTimeoutMs, statementTimeoutMs: askTimeoutMs })
  const signal = AbortSignal.timeout(askTimeoutMs)
  try {
    await connection.read({ text: 'SELECT 1', values: [] }, signal, () => undefined)
  } catch (error) {
    const { code, message } = questdbError(error)
    const reason = signal.aborted ? `no answer within ${askTimeoutMs} ms` : message
    throw new QuestdbError(code, `over the PostgreSQL protocol at ${pg.host}:${pg.port}: ${reason}`)
  } finally {
    await connection.close()
  }
}
