/** Looks at the servers that a store has started, by their records. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DataDirectory } from '../../store/data-directory.ts'

type Server = 'questdb' | 'postgres'

/** The pid of the QuestDB or PostgreSQL that was last started in this data directory. */
export function serverPid(directory: Pick<DataDirectory, 'path'>, server: Server): number {
  const pid = recordedPid(directory, server)
  if (pid === undefined) throw new Error(`no pid of ${server} is recorded`)
  return pid
}

/** Undefined before the first start, and for the moment between two. */
export function recordedPid({ path }: Pick<DataDirectory, 'path'>, server: Server): number | undefined {
  const record = join(path, server, 'process')
  const pid = existsSync(record) ? Number.parseInt(readFileSync(record, 'utf8'), 10) : 0
  return pid > 1 ? pid : undefined
}

/** A process that only waits to be reaped counts as gone. */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return !/^\d+ \(.*\) [ZX] /s.test(stat)
  } catch {
    return false
  }
}

/** The bound only keeps a test that fails from hanging; nothing is said about speed. */
export async function until(what: string, condition: () => boolean | Promise<boolean>, waitMs = 60_000): Promise<void> {
  const deadlineMs = performance.now() + waitMs
  while (!(await condition())) {
    if (performance.now() > deadlineMs) throw new Error(`it did not happen: ${what}`)
    await sleep(20)
  }
}
