/** Why a reading was refused, in one line: the text of the code, and what is wrong with each field. */

import { loggerErrors } from '../http/status-errors.ts'
import type { Refusal } from './intake.ts'

export function refusalText({ code, members = {} }: Pick<Refusal, 'code' | 'members'>): string {
  const { text } = loggerErrors[code]
  if ('errors' in members) {
    const errors = Object.entries(members.errors as object)
    return `${text}: ${errors.map(([field, error]) => `${field} ${error}`).join(', ')}`
  }
  return 'detail' in members ? `${text}: ${members.detail}` : text
}
