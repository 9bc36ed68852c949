/** Databases that are killed in the middle of their start, while frozen, or before a change to external ones: what `test/store/killed.test.ts` leaves out. */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { openDataDirectory } from '../../store/data-directory.ts'
import { freePort } from '../../store/process/free-port.ts'
import { openStore } from '../../store/store.ts'
import type { StoreOptions } from '../../store/store-options.ts'
import { storeOptions, type TestHooks, temporaryFolder } from '../support/databases.ts'
import { familyOf, isRunning, messageOf, serverPid, until } from '../support/processes.ts'

/** Hands back what the killed process had started: both servers, their own processes, and their watchdogs. */
async function startThenKill(
  t: TestHooks,
  path: string,
  when: 'ready' | 'starting',
  before: (pids: readonly number[]) => void = () => undefined,
  words: readonly string[] = [],
): Promise<number[]> {
  const holder = fork(new URL('../support/hold-store.ts', import.meta.url), [path, when, ...words])
  t.teardown(() => holder.kill('SIGKILL'))
  await messageOf(holder)
  const pids = [serverPid({ path }, 'questdb'), serverPid({ path }, 'postgres')].flatMap(familyOf)
  // Should the test fail, nothing of ours may stay.
  t.teardown(() => {
    for (const pid of pids.filter(isRunning)) process.kill(pid, 'SIGKILL')
  })
  before(pids)
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  return pids
}

test('after a kill in the middle of the start both come up at once, and the old processes are gone', async t => {
  const path = join(temporaryFolder(t), 'data')
  const questdbPgPort = await freePort()
  const old = await startThenKill(t, path, 'starting', undefined, [`${questdbPgPort}`])
  // The port is that of the QuestDB that was left behind.
  await comesUp(t, path, { questdbPgPort })
  await until('the old processes and their watchdogs are gone', () => !old.some(isRunning))
})

async function comesUp(t: Test, path: string, options: Partial<StoreOptions> = {}): Promise<void> {
  const directory = openDataDirectory(path)
  t.teardown(() => directory.close())
  const store = await openStore({ ...storeOptions(directory), ...options })
  t.teardown(() => store.close())
  t.strictSame((await store.postgres.query('SELECT word FROM kept')).rows, [{ word: 'still here' }])
  await store.questdb.ready
}

test('frozen databases end with a server that is killed too', async t => {
  const path = join(temporaryFolder(t), 'data')
  const freeze = (pids: readonly number[]): void => {
    for (const server of ['questdb', 'postgres'] as const) {
      const own = serverPid({ path }, server)
      const frozen = pids.filter(pid => pid === own || statName(pid) === statName(own))
      for (const pid of frozen) process.kill(pid, 'SIGSTOP')
    }
  }
  const pids = await startThenKill(t, path, 'starting', freeze)
  await until('nothing of it is left', () => !pids.some(isRunning))
})

/** The name of its program, which the watchdogs do not share. */
function statName(pid: number): string {
  return /\((.*)\)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? ''
}

test('who has changed to external databases gets the old ones stopped too', async t => {
  const path = join(temporaryFolder(t), 'data')
  const old = await startThenKill(t, path, 'starting')
  const directory = openDataDirectory(path)
  t.teardown(() => directory.close())
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
