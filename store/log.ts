/** The logger as every part takes it: it writes at three levels, and makes no children. */

import type { Logger } from 'pino'

export type Log = Pick<Logger, 'info' | 'warn' | 'error'>
