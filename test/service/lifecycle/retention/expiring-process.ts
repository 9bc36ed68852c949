/** A process that makes days expire in a QuestDB, and is killed at one of its writing statements. */

import { Expiry, type ExpiryOptions } from '../../../../service/lifecycle/retention/expiry.ts'
import { createSharedLock } from '../../../../service/lifecycle/retention/shared-lock.ts'
import type { QuestdbHttp } from '../../../../store/questdb/client/questdb-address.ts'
import { createQuestdbClient } from '../../../../store/questdb/client/questdb-client.ts'

export interface Kill {
  http: QuestdbHttp
  beforeMs: number
  /** The number of the writing statement, from 0. */
  statement: number
  /** The state of a statement: QuestDB has not received it, has just received it, or has answered. */
  when: 'before' | 'sent' | 'after'
}

/** All days before this one are refused already, and all that was accepted is applied. */
export function createExpiry(exec: ExpiryOptions['exec'], beforeMs: number): Expiry {
  return new Expiry({
    ...{ exec, lock: createSharedLock(), monotonicMs: () => performance.now(), graceMs: 0 },
    acceptedFrom: { raise: async () => undefined, raisedMs: () => beforeMs },
    readings: { applied: () => 0, endOfAll: async () => 0, onLost: () => undefined },
  })
}

const text = process.argv[2]
if (text !== undefined) await run(JSON.parse(text))

async function run({ http, beforeMs, statement, when }: Kill): Promise<void> {
  const client = createQuestdbClient(http)
  let writing = 0
  const die = () => process.kill(process.pid, 'SIGKILL')
  const exec = async (sql: string) => {
    const isIt = /^(INSERT|ALTER)/.test(sql) && writing++ === statement
    if (isIt && when === 'before') die()
    const answer = client.exec(sql, 30_000)
    if (isIt && when === 'sent') setImmediate(() => setImmediate(die))
    const rows = await answer
    if (isIt) die()
    return rows
  }
  const expiry = createExpiry(exec, beforeMs)
  const pause = () => new Promise<void>(resolve => setTimeout(resolve, 10))
  await expiry.look()
  await expiry.expire(beforeMs, pause)
  await expiry.remove(pause)
}
