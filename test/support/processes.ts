/** Looks at the servers that a store has started, by their records. */

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DataDirectory } from '../../store/data-directory.ts'
import { waitFor } from './wait-for.ts'

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

/** All processes that have this one in their group or among their ancestors, itself included. */
export function familyOf(pid: number): number[] {
  const all = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(name => statOf(Number(name)) ?? [])
  const family = new Set([pid])
  for (let before = 0; before < family.size; ) {
    before = family.size
    for (const { pid: own, parent, group } of all) if (family.has(parent) || group === pid) family.add(own)
  }
  return [...family].filter(isRunning)
}

/** 0 when it is gone. */
export function parentOf(pid: number): number {
  return statOf(pid)?.parent ?? 0
}

function statOf(pid: number): { pid: number; parent: number; group: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [, parent, group] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    return parent === undefined || group === undefined ? undefined : { pid, parent, group }
  } catch {
    return undefined
  }
}

export const until = waitFor

/** The first message of a child process. It fails if the child exits without one. */
export async function messageOf<Message>(child: ChildProcess): Promise<Message> {
  const gaveUp = new AbortController()
  const { signal } = gaveUp
  const message = once(child, 'message', { signal })
  const exit = once(child, 'exit', { signal }).then(([code, killedBy]) => {
    throw new Error(`process ${child.pid} has ended without a message: ${code ?? killedBy}`)
  })
  try {
    return (await Promise.race([message, exit]))[0]
  } finally {
    gaveUp.abort()
    await Promise.allSettled([message, exit])
  }
}
