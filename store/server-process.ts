/** Starts a server as a process group of its own, and ends one, whether it is our child or was left by a killed parent. */

import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from './find-program.ts'
import type { Log } from './log.ts'
import { recordedServer, startTimeOf } from './process-identity.ts'
import { boundLog } from './server-log.ts'
import { StartError } from './start-error.ts'

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
  /** Gets what `stopLeftBehind` needs to know the process again. */
  recordPath: string
  /** Gets standard output and standard error; see server-log.ts. */
  logPath: string
  environment: Environment
  user?: { uid: number; gid: number } | undefined
}

// Only what the shell has built in, so that it works whatever PATH is.
const recordThenRun = 'read -r stat < /proc/$$/stat; echo "$stat" >&3; exec "$@" 3>&-'
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
    const child = spawn('/bin/sh', ['-c', recordThenRun, 'sh', command, ...args], {
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

export interface LeftBehind {
  name: string
  recordPath: string
  /** It runs in one of these. */
  directories: readonly string[]
  stopSteps: readonly StopStep[]
  log: Log
}

/** Stops the server that a killed process of ours has left behind, if there is one. */
export async function stopLeftBehind({ name, recordPath, directories, stopSteps, log }: LeftBehind): Promise<void> {
  for (const directory of directories) {
    const pid = recordedServer(recordPath, directory)
    if (pid === undefined) continue
    log.warn({ pid }, `${name}, left behind by a killed server, is stopped`)
    if (await stopGroup(pid, stopSteps)) continue
    throw new StartError(`${name}, left behind by a killed server, does not stop: end its process ${pid}.`)
  }
}
