import fc from 'fast-check'
import { test } from 'tap'
import { commands, runHistory } from '../support/model-history.ts'

test('the table shows what was acknowledged last, whatever happened on the way', async t => {
  const property = fc.asyncProperty(
    fc.nat(),
    fc.constantFrom(0, 3_600_000),
    commands,
    async (seed, keepMs, history) => {
      const wrong = await runHistory(seed, keepMs, history)
      if (wrong.length > 0) throw new Error(`${history.map(({ name }) => name).join('\n')}\n${wrong.join('\n')}`)
    },
  )
  await fc.assert(property, { numRuns: 100 })
  t.pass('no history differs')
})
