/** Tokens of forms: their visitor, their secret and how long they are good. */

import t from 'tap'
import { createFormTokens } from '../../../api/sign-in/pages/device.ts'
import type { SignedIn } from '../../../auth/sessions/session-claims.ts'

const hourMs = 3_600_000
const visitor = (id: number, sid?: string) => ({ account: { id }, sid }) as SignedIn

t.test('a token is good for its visitor, for an hour, also where another process has made it', async t => {
  let nowMs = 1_000_000
  const [one, other] = [1, 2].map(() => createFormTokens('s'.repeat(64), () => nowMs))
  const foreign = createFormTokens('x'.repeat(64), () => nowMs)
  if (one === undefined || other === undefined) throw new Error('two were made')
  for (const who of [visitor(1, 'a'), visitor(1)]) {
    const token = one.make(who)
    t.ok(other.isGood(who, token))
    t.notOk(foreign.isGood(who, token))
    for (const others of [visitor(1, 'b'), visitor(2), visitor(2, 'a1')]) t.notOk(other.isGood(others, token))
    const [endsMs = '', digest = ''] = token.split('.')
    for (const made of ['', '.', 'x', digest, `${endsMs}.`, `${Number(endsMs) + 1}.${digest}`, `Infinity.${digest}`]) {
      t.notOk(other.isGood(who, made), made)
    }
    t.notOk(other.isGood(who, undefined))
    nowMs += hourMs - 1
    t.ok(other.isGood(who, token))
    nowMs += 1
    t.notOk(other.isGood(who, token))
  }
})
