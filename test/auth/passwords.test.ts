/** Passwords: their form at rest, and how many are worked on at a time. */

import { hash } from '@node-rs/argon2'
import t from 'tap'
import { isCommonPassword } from '../../auth/accounts/common-passwords.ts'
import { createPasswords } from '../../auth/accounts/passwords.ts'
import { TooBusy } from '../../auth/too-busy.ts'
import type { Asker } from '../../limits/semaphore.ts'

const asker = { account: 'ada@example.com', network: '10.0.0.1' }

t.test('a password is an Argon2id hash in PHC form', async t => {
  const passwords = await createPasswords()
  t.teardown(() => passwords.close())
  const verify = (known: string | undefined, password: string) =>
    passwords.attempt(asker, verify => verify(known, password))
  const known = await passwords.hash('Ku\u0308che 🔑', asker)
  t.match(known, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  t.equal(await verify(known, 'K\u00fcche 🔑'), true, 'however the keyboard composes it')
  t.equal(await verify(known, 'k\u00fcche 🔑'), false)
  t.equal(await verify(undefined, 'nobody has this password'), false)
  t.equal(passwords.isOutdated(known), false)
  t.equal(passwords.isOutdated(await hash('x', { memoryCost: 8192, timeCost: 1 })), true)
})

/** Checks of passwords that end one by one; `started` are those that were, in this order. */
async function startChecks() {
  const noHash = async () => ''
  const passwords = await createPasswords({ hash: noHash, verify: async () => true, close: async () => undefined })
  const running: (() => void)[] = []
  const started: Asker[] = []
  let most = 0
  const work = (asker: Asker) => async () => {
    started.push(asker)
    await new Promise<void>(end => {
      most = Math.max(most, running.push(end))
    })
    return 'done'
  }
  const run = (asker: Asker) =>
    passwords.attempt(asker, work(asker)).catch((error: unknown) => {
      return error instanceof TooBusy && error.retryAfterSeconds === 1 ? 'busy' : error
    })
  /** What came of them, once all have ended. */
  async function end(asked: Promise<unknown>[]): Promise<unknown[]> {
    let isOver = false
    const outcomes = Promise.all(asked).finally(() => {
      isOver = true
    })
    while (!isOver) {
      running.shift()?.()
      await new Promise(setImmediate)
    }
    return await outcomes
  }
  return { run, end, started, most: () => most }
}

const countOf = (outcomes: unknown[], outcome: string) => outcomes.filter(each => each === outcome).length

t.test('two at a time, a short queue, and then no', async t => {
  const { run, end, started, most } = await startChecks()
  const askers = Array.from({ length: 40 }, (_, at) => ({ account: `a${at}`, network: `n${at}` }))
  const outcomes = await end(askers.map(run))
  t.strictSame(outcomes, [...Array(34).fill('done'), ...Array(6).fill('busy')])
  t.strictSame(started, askers.slice(0, 34), 'in their order')
  t.equal(most(), 2)
})

t.test('of an account and a network one runs at a time, and others pass it', async t => {
  const { run, end, started } = await startChecks()
  const [ada, eve] = [asker, { ...asker, network: '10.0.0.2' }]
  const asked = [run(ada), run(ada), run(ada), run(eve)]
  await new Promise(setImmediate)
  t.strictSame(started, [ada, eve])
  t.strictSame(await end(asked), ['done', 'done', 'done', 'done'])
})

t.test('no account takes all places', async t => {
  const { run, end } = await startChecks()
  const attack = Array.from({ length: 60 }, (_, at) => run({ account: 'victim', network: `n${at}` }))
  const others = Array.from({ length: 16 }, (_, at) => run({ account: `other ${at}`, network: `m${at}` }))
  t.strictSame(await end(others), Array(16).fill('done'))
  t.equal(countOf(await end(attack), 'done'), 18)
})

t.test('no network takes all places, and no four', async t => {
  for (const networks of [1, 4]) {
    const { run, end } = await startChecks()
    const attack = Array.from({ length: 200 }, (_, at) => run({ account: `a${at}`, network: `n${at % networks}` }))
    const others = Array.from({ length: 6 }, (_, at) => run({ account: `other ${at}`, network: `m${at}` }))
    t.strictSame(await end(others), Array(6).fill('done'), `${networks}`)
    t.equal(countOf(await end(attack), 'done'), 28, 'they give way to others, and to no more')
  }
})

t.test('an account that is attacked from a few networks has places for its owner', async t => {
  const { run, end } = await startChecks()
  const attack = Array.from({ length: 60 }, (_, at) => run({ account: 'victim', network: `n${at % 4}` }))
  const owner = Array.from({ length: 6 }, (_, at) => run({ account: 'victim', network: `m${at}` }))
  t.strictSame(await end(owner), Array(6).fill('done'))
  t.equal(countOf(await end(attack), 'done'), 12)
})

t.test('common passwords are known in any case', async t => {
  for (const password of ['password', 'PassWord', '12345678', 'iloveyou']) t.ok(isCommonPassword(password), password)
  t.notOk(isCommonPassword('correct horse battery'))
})
