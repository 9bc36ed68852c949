/** Passwords: their form at rest, and how many are worked on at a time. */

import { hash, verify } from '@node-rs/argon2'
import t from 'tap'
import { isCommonPassword } from '../../auth/accounts/common-passwords.ts'
import { createPasswords } from '../../auth/accounts/passwords.ts'
import { TooBusy } from '../../auth/too-busy.ts'

t.test('a password is an Argon2id hash in PHC form', async t => {
  const passwords = await createPasswords()
  t.teardown(() => passwords.close())
  const known = await passwords.hash('Ku\u0308che 🔑')
  t.match(known, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  t.equal(await passwords.verify(known, 'K\u00fcche 🔑'), true, 'however the keyboard composes it')
  t.equal(await passwords.verify(known, 'k\u00fcche 🔑'), false)
  t.equal(await passwords.verify(undefined, 'nobody has this password'), false)
  t.equal(passwords.isOutdated(known), false)
  t.equal(passwords.isOutdated(await hash('x', { memoryCost: 8192, timeCost: 1 })), true)
})

t.test('two at a time, a short queue, and then no', async t => {
  let running = 0
  let most = 0
  const gates: (() => void)[] = []
  const passwords = await createPasswords({
    hash,
    async verify(known, password) {
      running += 1
      most = Math.max(most, running)
      await new Promise<void>(resolve => gates.push(resolve))
      running -= 1
      return await verify(known, password)
    },
    close: async () => undefined,
  })
  const known = await passwords.hash('right')
  const answers = Array.from({ length: 40 }, () => passwords.verify(known, 'right').catch(error => error))
  const refused = await Promise.all(answers.slice(34))
  t.ok(refused.every(error => error instanceof TooBusy && error.retryAfterSeconds === 1))
  let isOver = false
  const all = Promise.all(answers.slice(0, 34)).finally(() => {
    isOver = true
  })
  while (!isOver) {
    gates.shift()?.()
    await new Promise(setImmediate)
  }
  t.ok((await all).every(isRight => isRight === true))
  t.equal(most, 2)
})

t.test('common passwords are known in any case', async t => {
  for (const password of ['password', 'PassWord', '12345678', 'iloveyou']) t.ok(isCommonPassword(password), password)
  t.notOk(isCommonPassword('correct horse battery'))
})
