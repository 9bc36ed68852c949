/** Identifies processes beyond their pid, since pids are reused. */

import { readFileSync } from 'node:fs'

/**
 * Returns the pid of the recorded server if it still runs. The pid and the start time must match, and its command line must name
 * the directory, since the record may be a copy.
 */
export function recordedServer(recordPath: string, directory: string): number | undefined {
  const recorded = parseStat(readText(recordPath))
  if (recorded === undefined || startTimeOf(recorded.pid) !== recorded.startTime) return undefined
  return runsIn(recorded.pid, directory) ? recorded.pid : undefined
}

/** True when the process has this directory as a separate argument. */
export function runsIn(pid: number, directory: string): boolean {
  const commandLine = readText(`/proc/${pid}/cmdline`) ?? ''
  return commandLine.split('\0').includes(directory)
}

/** The kernel's start time of a process in ticks since boot. Undefined for an ended or zombie process. */
export function startTimeOf(pid: number): string | undefined {
  const stat = parseStat(readText(`/proc/${pid}/stat`))
  return stat === undefined || stat.state === 'Z' || stat.state === 'X' ? undefined : stat.startTime
}

/** Children of the process's main thread. Empty when it has ended. */
export function childrenOf(pid: number): number[] {
  const text = readText(`/proc/${pid}/task/${pid}/children`)?.trim() ?? ''
  return text === '' ? [] : text.split(' ').map(Number)
}

/** The fields follow the program's name, which is in parentheses and may contain any character. */
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
