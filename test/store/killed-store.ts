/** A store whose process is killed: its leftovers, and the next start. */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Test } from 'tap'
import { openStore } from '../../store/store.ts'
import type { StoreOptions } from '../../store/store-options.ts'
import { openTestDirectory, storeOptions } from '../support/databases.ts'
import { familyOf, isRunning, messageOf, serverPid } from '../support/processes.ts'

interface KillOptions {
  when?: 'ready' | 'starting'
  /** Right before the kill. */
  before?: (pids: readonly number[]) => void
  questdbPgPort?: number
}

/** Returns the processes of the killed one: both servers, their children, and their watchdogs. */
export async function startThenKill(
  t: Test,
  path: string,
  { when = 'ready', before, questdbPgPort }: KillOptions = {},
): Promise<number[]> {
  const words = questdbPgPort === undefined ? [] : [String(questdbPgPort)]
  const holder = fork(new URL('../support/hold-store.ts', import.meta.url), [path, when, ...words])
  t.teardown(() => holder.kill('SIGKILL'))
  await messageOf(holder)
  const pids = [serverPid({ path }, 'questdb'), serverPid({ path }, 'postgres')].flatMap(familyOf)
  // Should the test fail, nothing of ours may stay.
  t.teardown(() => {
    for (const pid of pids.filter(isRunning)) process.kill(pid, 'SIGKILL')
  })
  before?.(pids)
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  return pids
}

export async function comesUp(t: Test, path: string, options: Partial<StoreOptions> = {}): Promise<void> {
  const store = await openStore({ ...storeOptions(openTestDirectory(t, path)), ...options })
  t.teardown(() => store.close())
  t.strictSame((await store.postgres.query('SELECT word FROM kept')).rows, [{ word: 'still here' }])
  await store.questdb.ready
}
