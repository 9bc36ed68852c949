/** Writes the service's log to standard output: JSON for programs, readable lines on a terminal. */

import { type Logger, pino } from 'pino'
import type { Config } from './settings/config.ts'

export async function createLog({ LOG_LEVEL, LOG_FORMAT }: Config, isTerminal: boolean): Promise<Logger> {
  const options = { level: LOG_LEVEL }
  if (LOG_FORMAT === 'json' || (LOG_FORMAT === 'auto' && !isTerminal)) return pino(options)
  // Loaded on demand, since few starts need it.
  const { PinoPretty } = await import('pino-pretty')
  // Synchronous, so that the last line before an exit is written.
  const output = { destination: 1, sync: true, singleLine: true, ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss' }
  return pino(options, PinoPretty({ ...output, colorize: isTerminal }))
}
