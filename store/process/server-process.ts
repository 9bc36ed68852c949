/** Starts a server in a separate process group, and ends one, whether it is our child or was left by a killed parent. */

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log.ts'
import { StartError } from '../start-error.ts'
import type { Environment } from './find-program.ts'
import { boundLog } from './server-log.ts'

export interface ServerProcess {
  pid: number
  /** Undefined while it runs, then the way it ended. */
  ended(): string | undefined
  /** Settles with the way it ended. Does not keep this process alive. */
  exited: Promise<string>
  /** Settles like `exited`, but keeps this process alive. */
  waitForEnd(): Promise<string>
  /** Runs the steps of a stop until the server has ended. */
  stop(): Promise<void>
}

interface LaunchOptions {
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
 * killed now. A separate group shields it from the terminal's Ctrl-C. It ends with this process (the launch script).
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

interface LeftBehind {
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

export interface StopStep {
  signal: NodeJS.Signals
  waitMs: number
}

const scriptPollMs = 100

/**
 * Arguments: the steps of a stop, the niceness (nice(1)), then the command. Descriptor 3 takes the record. Descriptor 4 is a pipe
 * whose other end only this process has: it closes when this process ends in any way, and the watchdog then runs the steps. The
 * watchdog is in the server's process group, so its number cannot be reused.
 *
 * It is forked before the server runs, so that a server never runs without one. It is forked twice, so that it is not a child of
 * the server, which PostgreSQL would not expect. Where the kernel schedules by sessions (sched(7), autogroup), the niceness of a
 * thread counts only within its session, and the server has a separate one: so the session gets the niceness, too. PostgreSQL's
 * children have groups of their own and are killed by their parent's number.
 */
const launchScript = `
steps=$1; niceness=$2; shift 2
is_running() { kill -0 "$$"; }
send() {
  if [ "$1" = KILL ]; then
    read -r children < "/proc/$$/task/$$/children"
    [ -z "$children" ] || kill -s KILL $children
  fi
  kill -s "$1" -- "-$$"
}
watchdog() {
  trap '' HUP INT QUIT TERM
  read -r end
  PATH=$PATH:/usr/bin:/bin
  for step in $steps; do
    is_running || exit
    send "\${step%:*}"
    polls=\${step#*:}
    while [ "$polls" -gt 0 ] && is_running; do sleep ${scriptPollMs / 1000} || sleep 1; polls=$((polls - 1)); done
  done
}
read -r stat < "/proc/$$/stat"
echo "$stat" >&3
(watchdog <&4 3>&- 4<&- >/dev/null 2>&1 &)
if [ "$niceness" != 0 ]; then
  { echo "$niceness" > "/proc/$$/autogroup"; } 2>/dev/null
  set -- nice -n "$niceness" "$@"
fi
exec "$@" 3>&- 4<&-
`

/** The first argument of the script. */
function stepsText(steps: readonly StopStep[]): string {
  return steps.map(({ signal, waitMs }) => `${signal.slice(3)}:${Math.ceil(waitMs / scriptPollMs)}`).join(' ')
}

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
function startTimeOf(pid: number): string | undefined {
  const stat = parseStat(readText(`/proc/${pid}/stat`))
  return stat === undefined || stat.state === 'Z' || stat.state === 'X' ? undefined : stat.startTime
}

/** Children of the process's main thread. Empty when it has ended. */
function childrenOf(pid: number): number[] {
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
