/** A token in a form that has to come from a page that this visitor was shown: no other page can know it. */

import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { SignedIn } from '../../../auth/sessions/session-claims.ts'

export interface FormTokens {
  make(visitor: SignedIn): string
  isGood(visitor: SignedIn, token: string | undefined): boolean
}

/** Longer than what a form decides about can wait. */
const lifetimeMs = 3_600_000

/**
 * A token is the time at which it ends, and the HMAC of that time and the visitor. It needs nothing in memory, so it outlives a
 * restart.
 */
export function createFormTokens(secret: string, nowMs: () => number): FormTokens {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'barograph form tokens', 32))
  const digest = ({ sid, account }: SignedIn, endsMs: string) =>
    createHmac('sha256', key)
      .update(`${sid === undefined ? `account ${account.id}` : `session ${sid}`} ${endsMs}`)
      .digest()
  return {
    make(visitor) {
      const endsMs = String(nowMs() + lifetimeMs)
      return `${endsMs}.${digest(visitor, endsMs).toString('base64url')}`
    },
    isGood(visitor, token = '') {
      const [endsMs = '', sentText = ''] = token.split('.', 2)
      const sent = Buffer.from(sentText, 'base64url')
      const expected = digest(visitor, endsMs)
      return sent.length === expected.length && timingSafeEqual(sent, expected) && nowMs() < Number(endsMs)
    },
  }
}
