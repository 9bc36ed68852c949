/** The part of a logger that this folder uses. */
import type { Logger } from 'pino'

export type Log = Pick<Logger, 'info' | 'warn' | 'error'>
