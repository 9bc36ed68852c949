import { mock } from 'node:test'
import { test } from 'tap'
import { waitFor } from './support/wait-for.ts'

test('a wait ends when its condition holds', async t => {
  let asked = 0
  await waitFor('the third time', async () => ++asked === 3)
  t.equal(asked, 3)
})

test('a wait without success fails with its description, also when the condition itself hangs', async t => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  t.teardown(() => mock.timers.reset())
  const notices = t.capture(process.stderr, 'write', () => true)
  for (const condition of [() => false, () => new Promise<boolean>(() => undefined)]) {
    const waiting = waitFor('the row is there', condition)
    mock.timers.tick(3_600_000)
    await t.rejects(waiting, { message: 'did not happen within 900 s: the row is there' })
  }
  t.strictSame(notices()[0]?.args, ['waiting since 60 s: the row is there\n'])
})

test('a condition that throws fails the wait', async t => {
  const broken = () => {
    throw new Error('no such table')
  }
  await t.rejects(waitFor('the row is there', broken), { message: 'no such table' })
})
