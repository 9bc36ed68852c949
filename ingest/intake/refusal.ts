/** Reasons for which a reading is not stored: a code with its text. */

import type { RejectionReason } from './reading-meter.ts'

/** Keys are codes. The texts are the same in each protocol. */
export const refusalTexts = {
  CLOSING: 'shutting down',
  DATABASE_AWAY: 'database unavailable',
  DEVICE_MISMATCH: 'device mismatch',
  DEVICE_SUSPENDED: 'device is being changed',
  DEVICE_UNKNOWN: 'device unknown',
  FORBIDDEN: 'forbidden',
  JSON_INVALID: 'invalid json',
  KEY_INVALID: 'invalid idempotency key',
  KEY_REUSED: 'idempotency key belongs to another request',
  LOGGING_DISABLED: 'logging disabled',
  PAYLOAD_INVALID: 'invalid payload',
  STORAGE_FAILED: 'storage failed',
  STORAGE_FULL: 'storage full',
  TOO_MANY_ATTEMPTS: 'too many failed attempts',
  TOO_MANY_IDEMPOTENCY_KEYS: 'too many idempotency keys',
  TOO_MANY_IDEMPOTENCY_KEYS_OF_WRITER: 'too many idempotency keys',
  TOO_MANY_OF_OWNER: 'too many devices of the owner',
  TOO_MANY_READINGS: 'too many readings',
  UNAUTHORIZED: 'unauthorized',
} as const
type RefusalCode = keyof typeof refusalTexts

/** Reason why a reading was not stored. The code that answers also counts it. */
export interface Refusal {
  reason: RejectionReason
  code: RefusalCode
  /** Details of this occurrence, for the answer. */
  members?: object | undefined
}

export function refusalText({ code, members }: Pick<Refusal, 'code' | 'members'>): string {
  return textWithDetails(refusalTexts[code], members)
}

/** `members` as in a refusal. */
export function textWithDetails(text: string, members: object = {}): string {
  if ('errors' in members) {
    const errors = Object.entries(members.errors as object)
    return `${text}: ${errors.map(([field, error]) => `${field} ${error}`).join(', ')}`
  }
  return 'detail' in members ? `${text}: ${members.detail}` : text
}
