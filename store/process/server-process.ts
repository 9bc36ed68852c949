/** Starts a server in a separate process group, and ends one, whether it is our child or was left by a killed parent. */

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log.ts'
import { StartError } from '../start-error.ts'
import type { Environment } from './find-program.ts'
import { launchScript, type StopStep, stepsText } from './launch-script.ts'
import { childrenOf, recordedServer, startTimeOf } from './process-identity.ts'
import { boundLog } from './server-log.ts'

export interface ServerProcess {
  pid: number
  /** Undefined while it runs, then the way it ended. */
  ended(): string | undefined
  /** Settles with the way it ended. Does not keep this process alive. */
  exited: Promise<string>
  /** Like `exited`, but keeps this process alive. */
  waitForEnd(): Promise<string>
  /** Runs the steps of a stop until the server has ended. */
  stop(): Promise<void>
}

export interface LaunchOptions {
  command: string
  args: readonly string[]
  /** Path of the record by which `stopLeftBehind` identifies the process. */
  recordPath: string
  /** Receives standard output and standard error; see server-log.ts. */
  logPath: string
  environment: Environment
  /** Steps of a stop, by this process or, after its end, by the watchdog. The last step should be a SIGKILL. */
  stopSteps: readonly StopStep[]
  user?: { uid: number; gid: number } | undefined
  /** Added to our own niceness (nice(1)); 0 by default. */
  niceness?: number
}

/**
 * The child writes the record before it becomes the server, so that a server never runs unrecorded, even if this process is
 * killed now. A separate group shields it from the terminal's Ctrl-C. It ends with this process (launch-script.ts).
 */
export function launch(options: LaunchOptions): ServerProcess {
  const { command, args, recordPath, logPath, environment, stopSteps, user, niceness = 0 } = options
  const log = openSync(logPath, 'a', 0o600)
  const unboundLog = boundLog(log)
  let record: number | undefined
  try {
    record = openSync(recordPath, 'w', 0o600)
    const child = spawn('/bin/sh', ['-c', launchScript, 'sh', stepsText(stopSteps), `${niceness}`, command, ...args], {
      cwd: '/',
      detached: true,
      env: environment,
      stdio: ['ignore', log, log, record, 'pipe'],
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
    const watchdog = watchdogOf(child)
    void exited.then(() => {
      unboundLog()
      watchdog?.destroy()
    })
    const waitForEnd = (): Promise<string> => {
      child.ref()
      return exited
    }
    const pid = child.pid ?? 0
    const stop = async (): Promise<void> => {
      if (ended === undefined) await stopGroup(pid, stopSteps)
      await waitForEnd()
    }
    return { pid, ended: () => ended, exited, waitForEnd, stop }
  } catch (error) {
    unboundLog()
    throw error
  } finally {
    if (record !== undefined) closeSync(record)
  }
}

/** Our end of the pipe, which must not keep this process alive. Undefined when the process could not be started. */
function watchdogOf({ stdio }: ChildProcess): Socket | undefined {
  const watchdog = stdio?.[4] as Socket | null | undefined
  watchdog?.on('error', () => undefined).unref()
  return watchdog ?? undefined
}

/** Sends each signal in turn until the group has ended. */
async function stopGroup(pid: number, steps: readonly StopStep[]): Promise<boolean> {
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

/** PostgreSQL's children have groups of their own, and would outlive a frozen parent. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  const others = signal === 'SIGKILL' ? childrenOf(pid) : []
  for (const target of [-pid, ...others]) {
    try {
      process.kill(target, signal)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}

export interface LeftBehind {
  name: string
  recordPath: string
  /** The server runs in one of these. */
  directories: readonly string[]
  stopSteps: readonly StopStep[]
  log: Log
}

/** Stops the server that a killed process of this service has left behind, if any. */
export async function stopLeftBehind({ name, recordPath, directories, stopSteps, log }: LeftBehind): Promise<void> {
  for (const directory of directories) {
    const pid = recordedServer(recordPath, directory)
    if (pid === undefined) continue
    log.warn({ pid }, `stopping ${name} left behind by a killed server`)
    if (await stopGroup(pid, stopSteps)) continue
    throw new StartError(`${name}, left behind by a killed server, does not stop: kill its process ${pid}.`)
  }
}
