/**
 * Databases killed during their start, while frozen, or before a change to external ones. `test/store/killed.test.ts` has the
 * other cases.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { freePort } from '../../store/process/free-port.ts'
import { openStore } from '../../store/store.ts'
import { comesUp, startThenKill } from '../store/killed-store.ts'
import { openTestDirectory, storeOptions, temporaryFolder } from '../support/databases.ts'
import { isRunning, serverPid, until } from '../support/processes.ts'

test('both databases replace their old processes after a kill during the start', async t => {
  const path = join(temporaryFolder(t), 'data')
  const questdbPgPort = await freePort()
  const old = await startThenKill(t, path, { when: 'starting', questdbPgPort })
  // The port is that of the leftover QuestDB.
  await comesUp(t, path, { questdbPgPort })
  await until('the old processes and their watchdogs are gone', () => !old.some(isRunning))
})

test('frozen databases stop with a killed server', async t => {
  const path = join(temporaryFolder(t), 'data')
  const freeze = (pids: readonly number[]): void => {
    for (const server of ['questdb', 'postgres'] as const) {
      const own = serverPid({ path }, server)
      const frozen = pids.filter(pid => pid === own || statName(pid) === statName(own))
      for (const pid of frozen) process.kill(pid, 'SIGSTOP')
    }
  }
  const pids = await startThenKill(t, path, { when: 'starting', before: freeze })
  await until('nothing of it is left', () => !pids.some(isRunning))
})

/** The name of its program, which the watchdogs do not share. */
function statName(pid: number): string {
  return /\((.*)\)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? ''
}

test('a change to external databases stops the old ones', async t => {
  const path = join(temporaryFolder(t), 'data')
  const old = await startThenKill(t, path, { when: 'starting' })
  const directory = openTestDirectory(t, path)
  const external = {
    databaseUrl: 'postgresql://nobody:wrong@127.0.0.1:1/none',
    questdbHttp: 'http://127.0.0.1:1',
    questdbPg: 'postgresql://127.0.0.1:1/qdb',
  }
  const giveUp = new AbortController()
  const opening = openStore({ ...storeOptions(directory), ...external, signal: giveUp.signal })
  opening.catch(() => undefined)
  await until('the old ones are gone', () => !old.some(isRunning))
  giveUp.abort()
  await t.rejects(opening)
})
