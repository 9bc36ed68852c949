/** Why a line is not taken. */

import type { RejectCode } from './reject.ts'

export interface Problem {
  code: RejectCode
  reason: string
}

/** It is no line protocol. */
export function malformed(reason: string): Problem {
  return { code: 'LINE_MALFORMED', reason }
}

/** It is no reading. */
export function invalid(reason: string): Problem {
  return { code: 'READING_INVALID', reason }
}
