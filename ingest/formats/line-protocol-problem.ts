/** Why a line is rejected. */

import type { RejectCode } from './reject.ts'

export interface Problem {
  code: RejectCode
  reason: string
}

/** The line is not line protocol. */
export function malformed(reason: string): Problem {
  return { code: 'LINE_MALFORMED', reason }
}

/** The line is not a reading. */
export function invalid(reason: string): Problem {
  return { code: 'READING_INVALID', reason }
}
