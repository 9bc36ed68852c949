/** Which process is which: a pid alone says little, for pids come round again. */

import { readFileSync } from 'node:fs'

/**
 * The pid of the server that the record tells of, if it still runs: the pid and the start time have to fit, and the
 * directory has to stand in its command line, since the record may be a copy.
 */
export function recordedServer(recordPath: string, directory: string): number | undefined {
  const recorded = parseStat(readText(recordPath))
  if (recorded === undefined || startTimeOf(recorded.pid) !== recorded.startTime) return undefined
  return runsIn(recorded.pid, directory) ? recorded.pid : undefined
}

/** Whether the process has this directory as an argument of its own. */
export function runsIn(pid: number, directory: string): boolean {
  const commandLine = readText(`/proc/${pid}/cmdline`) ?? ''
  return commandLine.split('\0').includes(directory)
}

/** The kernel's start time of a process in ticks since boot; undefined when it is gone or only waits to be reaped. */
export function startTimeOf(pid: number): string | undefined {
  const stat = parseStat(readText(`/proc/${pid}/stat`))
  return stat === undefined || stat.state === 'Z' || stat.state === 'X' ? undefined : stat.startTime
}

/** The processes that its main thread has started; empty when it is gone. */
export function childrenOf(pid: number): number[] {
  const text = readText(`/proc/${pid}/task/${pid}/children`)?.trim() ?? ''
  return text === '' ? [] : text.split(' ').map(Number)
}

/** The fields stand behind the program's name, which is in brackets and may hold anything. */
function parseStat(text: string | undefined): { pid: number; state: string; startTime: string } | undefined {
  const [, pid, state, rest] = /^(\d+) \(.*\) (\S) (.*)$/s.exec(text?.trim() ?? '') ?? []
  // Start time is field 22 of proc(5); `rest` begins with field 4.
  const startTime = rest?.split(' ')[22 - 4]
  if (pid === undefined || state === undefined || startTime === undefined) return undefined
  return { pid: Number(pid), state, startTime }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
