import { test } from 'tap'
import { runs } from '../support/runs.ts'
import { countViolations, runPowerLoss } from './power-loss.ts'

test('acknowledged groups survive power cuts, kills and disk errors unchanged and in order', async t => {
  const { numRuns } = runs(500, 5000)
  const result = runPowerLoss(numRuns)
  t.equal(countViolations(result), 0, JSON.stringify(result))
  t.ok(result.crashes > 1500 && result.acknowledged > 50_000, 'there was something to lose')
  t.ok(result.clockSteps > 1000, `the clock was set ${result.clockSteps} times`)
  t.ok(result.unknown > 500 && result.refused > 5000, 'the disk failed in every way')
})
