/** Starts a server as a process group of its own, and ends one, whether it is our child or was left by a killed parent. */

import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from './find-program.ts'
import { boundLog } from './server-log.ts'

export interface ServerProcess {
  pid: number
  /** Undefined while it runs, then how it ended. */
  ended(): string | undefined
  /** Settles with how it ended; does not hold our own end up. */
  exited: Promise<string>
  /** The same, and does hold it up. */
  waitForEnd(): Promise<string>
}

export interface LaunchOptions {
  command: string
  args: readonly string[]
  /** Gets what `leftBehind` needs to know the process again. */
  recordPath: string
  /** Gets standard output and standard error; see server-log.ts. */
  logPath: string
  environment: Environment
  user?: { uid: number; gid: number } | undefined
}

const logCheckMs = 60_000

/**
 * The child writes the record itself before it becomes the server, so there is no moment in which a server runs that
 * nobody would know again, were we killed right now. Its own group keeps the terminal's Ctrl-C from it.
 */
export function launch(options: LaunchOptions): ServerProcess {
  const { command, args, recordPath, logPath, environment, user } = options
  boundLog(logPath)
  const log = openSync(logPath, 'a', 0o600)
  const record = openSync(recordPath, 'w', 0o600)
  try {
    const child = spawn('/bin/sh', ['-c', 'cat /proc/$$/stat >&3; exec "$@" 3>&-', 'sh', command, ...args], {
      cwd: '/',
      detached: true,
      env: environment,
      stdio: ['ignore', log, log, record],
      ...user,
    })
    let ended: string | undefined
    const exited = new Promise<string>(resolve => {
      const end = (text: string): void => {
        ended ??= text
        resolve(ended)
      }
      child.once('error', error => end(error.message))
      child.once('exit', (code, signal) => end(signal === null ? `exit code ${code}` : `signal ${signal}`))
    })
    child.unref()
    const bounding = setInterval(boundLog, logCheckMs, logPath).unref()
    void exited.then(() => clearInterval(bounding))
    const waitForEnd = (): Promise<string> => {
      child.ref()
      return exited
    }
    return { pid: child.pid ?? 0, ended: () => ended, exited, waitForEnd }
  } finally {
    closeSync(log)
    closeSync(record)
  }
}

/**
 * The pid of the server that the record tells of, if it still runs: the pid and the start time have to fit, since pids
 * come round again, and the directory has to stand in its command line, since the record may be a copy.
 */
export function leftBehind(recordPath: string, directory: string): number | undefined {
  const recorded = parseStat(readText(recordPath))
  if (recorded === undefined || startTimeOf(recorded.pid) !== recorded.startTime) return undefined
  return runsIn(recorded.pid, directory) ? recorded.pid : undefined
}

export function runsIn(pid: number, directory: string): boolean {
  const commandLine = readText(`/proc/${pid}/cmdline`) ?? ''
  return commandLine.split('\0').includes(directory)
}

export interface StopStep {
  signal: NodeJS.Signals
  waitMs: number
}

/** Sends each signal in turn to the group until it is gone; the last step should be a SIGKILL. */
export async function stopGroup(pid: number, steps: readonly StopStep[]): Promise<boolean> {
  const startTime = startTimeOf(pid)
  const gone = (): boolean => startTime === undefined || startTimeOf(pid) !== startTime
  for (const { signal, waitMs } of steps) {
    if (gone()) return true
    signalGroup(pid, signal)
    const deadline = performance.now() + waitMs
    while (!gone() && performance.now() < deadline) await sleep(pollMs)
  }
  return gone()
}

const pollMs = 10

export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** The kernel's start time of a process in ticks since boot; undefined when it is gone or only waits to be reaped. */
function startTimeOf(pid: number): string | undefined {
  const stat = parseStat(readText(`/proc/${pid}/stat`))
  return stat === undefined || stat.state === 'Z' || stat.state === 'X' ? undefined : stat.startTime
}

/** The fields stand behind the program's name, which is in brackets and may hold anything. */
function parseStat(text: string | undefined): { pid: number; state: string; startTime: string } | undefined {
  const match = /^(\d+) \(.*\) (\S) (.*)$/s.exec(text?.trim() ?? '')
  const [, pid, state, rest] = match ?? []
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
