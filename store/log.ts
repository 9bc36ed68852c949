/** The logger interface of all parts: three levels, no child loggers. */

import type { Logger } from 'pino'

export type Log = Pick<Logger, 'info' | 'warn' | 'error'>
