/** A token in a form that has to come from a page that this visitor was shown: no other page can know it. */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { SignedIn } from '../../auth/sessions/session-claims.ts'

export interface FormTokens {
  make(visitor: SignedIn): string
  isGood(visitor: SignedIn, token: string | undefined): boolean
}

/** They end with the process; a form from before is shown again. */
export function createFormTokens(): FormTokens {
  const key = randomBytes(32)
  const digest = ({ sid, account }: SignedIn) =>
    createHmac('sha256', key)
      .update(sid === undefined ? `account ${account.id}` : `session ${sid}`)
      .digest()
  return {
    make: visitor => digest(visitor).toString('base64url'),
    isGood(visitor, token = '') {
      const sent = Buffer.from(token, 'base64url')
      const expected = digest(visitor)
      return sent.length === expected.length && timingSafeEqual(sent, expected)
    },
  }
}
