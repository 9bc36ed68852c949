import fc from 'fast-check'
import { test } from 'tap'
import { retryDelayMs } from '../../../alerts/delivery/outcome-rows.ts'

const contract = ['5 s', '5 min', '30 min', '2 h', '5 h', '10 h', '14 h', '20 h', '24 h']
const units: Record<string, number> = { s: 1000, min: 60_000, h: 3_600_000 }

test('nine retries, each within a tenth of its time', async t => {
  for (const [at, text] of contract.entries()) {
    const [count = '', unit = ''] = text.split(' ')
    const waitMs = Number(count) * (units[unit] ?? Number.NaN)
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), random => {
        const delayMs = retryDelayMs(at + 1, random) ?? Number.NaN
        return delayMs >= 0.9 * waitMs && delayMs <= 1.1 * waitMs
      }),
    )
    t.equal(retryDelayMs(at + 1, 0.5), waitMs, text)
  }
  t.equal(retryDelayMs(contract.length + 1, 0.5), undefined)
})
