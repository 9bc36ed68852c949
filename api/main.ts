/** `npm start`: reads the settings, starts the service, and stops it on a signal. */

import { pino } from 'pino'
import { StartError } from '../store/start-error.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { type Service, startService } from './service.ts'

/** A stop that takes longer is given up: whoever runs us kills us soon anyway, and the journal is ready for that. */
const stopMsMax = 10_000

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`)
  process.exit(1)
}

function configOrExit(): Config {
  try {
    return readConfig(process.env)
  } catch (error) {
    if (error instanceof ConfigError) fail(error.message)
    throw error
  }
}

const config = configOrExit()
const log = pino({ level: config.LOG_LEVEL })
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
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    fail(
      `Port ${config.PORT} on ${config.HOST} is taken by another program: stop that one, or set PORT to a free port.`,
    )
  }
  throw error
}
if (stopping) await service.close()
