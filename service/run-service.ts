/** Reads the settings, starts the service with its log, and stops it on a signal. */

import { flushCompileCache } from 'node:module'
import { isatty } from 'node:tty'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Logger, pino } from 'pino'
import { StartError } from '../store/start-error.ts'
import { startForwarderService } from './forwarder-service.ts'
import { watchParent } from './parent.ts'
import { startService } from './service.ts'
import { noteFailedWork } from './set-aside.ts'
import { type Config, ConfigError, readConfig } from './settings/config.ts'
import { misspeltSettings, misspeltText } from './settings/misspelt-settings.ts'
import { type Role, readStartArguments, startHelp, UsageError } from './settings/start-help.ts'
import type { Service } from './start-parts.ts'

/** A longer stop is aborted: a supervisor kills the process soon anyway, which the journal survives. */
const stopMsMax = 10_000

/** Same as the command line's. */
const exitUsage = 2

interface RunOptions {
  words: string[]
  environment: Record<string, string | undefined>
  /** Registers the handler of signals from now on. */
  handleSignals: (handler: (signal: NodeJS.Signals) => void) => void
}

/** Resolves when the service listens. The process runs until it is stopped. */
export async function runService({ words, environment, handleSignals }: RunOptions): Promise<void> {
  const config = configOrExit(environment, roleOrExit(words))
  const log = await createLog(config, isatty(1))
  for (const misspelt of misspeltSettings(environment)) log.warn(misspelt, misspeltText(misspelt))
  const giveUp = new AbortController()
  let starting: Promise<Service> | undefined
  let stopping = false

  /** Ends the process with all parts that it has started. */
  async function stop(reason: string, exitStatus: number): Promise<void> {
    if (stopping) return
    stopping = true
    log.info({ reason }, 'stopping')
    setTimeout(() => process.exit(1), stopMsMax).unref()
    giveUp.abort()
    // A start in progress reacts to the abort and cleans up.
    const service = await starting?.catch(() => undefined)
    try {
      await service?.close()
      log.info({}, 'stopped')
      process.exit(exitStatus)
    } catch (error) {
      log.error({ err: error }, 'stopped with errors')
      process.exit(1)
    }
  }

  function onFatal(error: Error): void {
    log.fatal({ err: error }, error instanceof StartError ? error.message : 'fatal error')
    void stop('fault', 1)
  }

  handleSignals(signal => void stop(signal, 0))
  watchParent(config.PARENT_PID, () => void stop('the parent has ended', 0))
  // An error that no part catches is logged like any other fault, and the service stops.
  process.on('uncaughtException', error => {
    noteFailedWork(config.DATA_DIR, error, Date.now())
    onFatal(error)
  })
  try {
    const start = config.role === 'forward' ? startForwarderService : startService
    starting = start({ config, log, nodes: config.role === 'api', signal: giveUp.signal, onFatal })
    const { url } = await starting
    log.info({ url, publicUrl: config.PUBLIC_URL, dataDirectory: config.DATA_DIR }, 'listening')
  } catch (error) {
    // The stop is already in progress.
    if (stopping) return
    if (error instanceof StartError) fail(error.message)
    throw error
  }
  // With NODE_COMPILE_CACHE, a process that is killed later leaves the cache to the next one, too.
  flushCompileCache()
  collectGarbage()
}

function fail(sentence: string, exitStatus = 1): never {
  process.stderr.write(`${sentence}\n`)
  process.exit(exitStatus)
}

function configOrExit(environment: RunOptions['environment'], role: Role): Config {
  try {
    return readConfig(environment, role)
  } catch (error) {
    if (error instanceof ConfigError) fail(error.message)
    throw error
  }
}

function roleOrExit(words: string[]): Role {
  try {
    const { isHelp, role } = readStartArguments(words)
    if (!isHelp) return role
  } catch (error) {
    if (error instanceof UsageError) fail(error.message, exitUsage)
    throw error
  }
  process.stdout.write(startHelp())
  process.exit()
}

/*
 * Collects garbage once at the end of the start (run-service.ts). With 20,000 devices the service then takes 172 MB
 * instead of 232, and 308 instead of 354 after statistics and 80,000 readings. Other options are not set: in single
 * runs on a loaded machine --max-semi-space-size and --initial-old-space-size saved 0 to 25 MB, without a consistent
 * gain. Threads have their limits in store/thread-limits.ts.
 */

/** Contexts that are created after the flag have `gc`, so Node needs no flag at its start. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as NonNullable<typeof globalThis.gc>
  gc({ type: 'major', flavor: 'last-resort', execution: 'sync' })
}

export async function createLog({ LOG_LEVEL, LOG_FORMAT }: Config, isTerminal: boolean): Promise<Logger> {
  const options = { level: LOG_LEVEL }
  if (LOG_FORMAT === 'json' || (LOG_FORMAT === 'auto' && !isTerminal)) return pino(options)
  // Loaded on demand, since few starts need it.
  const { PinoPretty } = await import('pino-pretty')
  // Synchronous, so that the last line before an exit is written.
  const output = { destination: 1, sync: true, singleLine: true, ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss' }
  return pino(options, PinoPretty({ ...output, colorize: isTerminal }))
}
