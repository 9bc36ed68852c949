/** The part of the logger that the databases use. */

import type { Logger } from 'pino'

export type Log = Pick<Logger, 'info' | 'warn' | 'error'>
