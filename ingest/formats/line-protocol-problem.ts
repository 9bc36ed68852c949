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

const nameCharactersMax = 64

/** A name as it stands in a reason. */
export function shortened(name: string): string {
  return name.length > nameCharactersMax ? `${name.slice(0, nameCharactersMax - 1).toWellFormed()}…` : name
}
