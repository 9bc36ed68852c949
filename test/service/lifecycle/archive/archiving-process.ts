/** A process that archives days and lets them expire, and kills itself at one of its steps: a step is a call that leaves something behind. */

import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { createArchive } from '../../../../service/lifecycle/archive/archive.ts'
import { openFolder } from '../../../../service/lifecycle/archive/archive-target.ts'
import type { QuestdbAddress } from '../../../../store/questdb/client/questdb-address.ts'
import { createQuestdbClient } from '../../../../store/questdb/client/questdb-client.ts'
import { createExpiry } from '../retention/expiring-process.ts'

export interface ArchiveKill {
  address: QuestdbAddress
  postgresUrl: string
  folder: string
  spool: string
  beforeMs: number
  /** Counted from 0; the process ends by itself where there are fewer. */
  step: number
  when: 'before' | 'after'
}

/** Not an argument: the module of `createExpiry` has a process of its own by those. */
const given = process.env['ARCHIVE_KILL']
if (given !== undefined) await run(JSON.parse(given))

async function run({ address, postgresUrl, folder, spool, beforeMs, step, when }: ArchiveKill): Promise<void> {
  let count = 0
  async function stepOf<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const isIt = count++ === step
    if (isIt) process.stdout.write(name)
    if (isIt && when === 'before') process.kill(process.pid, 'SIGKILL')
    const result = await work()
    if (isIt) process.kill(process.pid, 'SIGKILL')
    return result
  }

  const target = openFolder(pathToFileURL(folder))
  const pool = new pg.Pool({ connectionString: postgresUrl, max: 1 })
  const client = createQuestdbClient(address.http)
  const noting = {
    query: (query: { text: string }) =>
      query.text.includes('INSERT INTO archived_days') ? stepOf('note', () => pool.query(query)) : pool.query(query),
  }
  const archive = createArchive({
    target: {
      ...target,
      put: (...words) => stepOf('write', () => target.put(...words)),
      get: key => stepOf('read back', () => target.get(key)),
      remove: key => stepOf('remove', () => target.remove(key)),
    },
    ...{ pool: noting as never, replicas: [{ number: 1, questdb: { address } }], directory: spool, reserveBytes: 0 },
  })
  const exec = (sql: string) => {
    const work = () => client.exec(sql, 30_000)
    return /^(INSERT|ALTER)/.test(sql) ? stepOf('expire', work) : work()
  }
  const expiry = createExpiry(exec, beforeMs, {
    keep: ms => archive.keep(1, ms),
    holds: ms => archive.holds(1, ms),
  })
  const pause = () => new Promise<void>(resolve => setTimeout(resolve, 10))
  await expiry.look()
  await expiry.expire(beforeMs, pause)
  await expiry.remove(pause)
  archive.close()
  client.close()
  await pool.end()
}
