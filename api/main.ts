/** `barograph start` and `npm start`: reads the settings, starts the service, and stops it on a signal. */

import { isatty } from 'node:tty'
import { StartError } from '../store/start-error.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { createLog } from './log-output.ts'
import { setThreadFlags } from './node-flags.ts'
import { watchParent } from './parent.ts'
import { type Service, startService } from './service.ts'
import { startHelp } from './start-help.ts'

/** A stop that takes longer is given up: whoever runs us kills us soon anyway, and the journal is ready for that. */
const stopMsMax = 10_000

/** As that of the command line. */
const exitUsage = 2

function fail(sentence: string, exitStatus = 1): never {
  process.stderr.write(`${sentence}\n`)
  process.exit(exitStatus)
}

function configOrExit(): Config {
  try {
    return readConfig(process.env)
  } catch (error) {
    if (error instanceof ConfigError) fail(error.message)
    throw error
  }
}

function readArguments(words: string[]): void {
  if (words.length === 0) return
  if (words.includes('--help') || words.includes('-h')) {
    process.stdout.write(startHelp())
    process.exit()
  }
  fail(`The service takes no arguments such as ${JSON.stringify(words[0])}; --help lists its settings.`, exitUsage)
}

readArguments(process.argv.slice(2))
setThreadFlags()
const config = configOrExit()
const log = await createLog(config, isatty(1))
const giveUp = new AbortController()
let service: Service | undefined
let stopping = false

async function stop(reason: string, exitCode: number): Promise<void> {
  if (stopping) return
  stopping = true
  log.info({ reason }, 'stopping')
  setTimeout(() => process.exit(1), stopMsMax).unref()
  giveUp.abort()
  await service?.close()
  log.info({}, 'stopped')
  process.exitCode = exitCode
  // What started may still be in the middle of it; it sees the abort and cleans up.
  if (service !== undefined) process.exit()
}

process.on('SIGTERM', () => void stop('SIGTERM', 0))
process.on('SIGINT', () => void stop('SIGINT', 0))
process.on('SIGHUP', () => void stop('SIGHUP', 0))
watchParent(config.PARENT_PID, () => void stop('the parent has ended', 0))

/** By what the operating system says when the address cannot be had. */
const { HOST, PORT } = config
const listenRemedies: Record<string, string> = {
  EADDRINUSE: `Port ${PORT} on ${HOST} is taken by another program: stop that one, or set PORT to a free port.`,
  EADDRNOTAVAIL: `HOST ${HOST} is no address of this machine: set it to one of its addresses, or to 0.0.0.0 for all.`,
  ENOTFOUND: `HOST ${HOST} is no name that is known here: set it to an address of this machine.`,
  EACCES: `Port ${PORT} on ${HOST} needs rights that this user has not: set PORT to 1024 or more.`,
}

function onFatal(error: Error): void {
  log.fatal({ err: error }, error instanceof StartError ? error.message : 'a part that cannot be spared has failed')
  void stop('fault', 1)
}

try {
  service = await startService({ config, log, signal: giveUp.signal, onFatal })
  log.info({ url: service.url, publicUrl: config.PUBLIC_URL, dataDirectory: config.DATA_DIR }, 'listening')
} catch (error) {
  if (stopping) process.exit()
  if (error instanceof StartError) fail(error.message)
  const remedy = listenRemedies[(error as NodeJS.ErrnoException).code ?? '']
  if (remedy !== undefined && (error as NodeJS.ErrnoException).syscall !== undefined) fail(remedy)
  throw error
}
// What the start leaves behind goes back to the system: with a hundred thousand devices some 25 MB.
globalThis.gc?.({ type: 'major', flavor: 'last-resort', execution: 'sync' })
if (stopping) await service.close()
