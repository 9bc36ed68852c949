/** The part of a logger that this folder hands on. */
import type { Logger } from 'pino'

export type Log = Pick<Logger, 'info' | 'warn' | 'error'>
