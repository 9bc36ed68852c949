/** The smallest step of a sensor. */

import { test } from 'tap'
import { quantumOf } from '../../../analytics/quality/sensor-limits.ts'
import { autoregressive, withLoss } from '../series.ts'

const walk = autoregressive(5000, 0.99, 1)
const inSteps = (step: number) => walk.map(value => Math.round((20 + value) / step) * step)

test('the step is the smallest frequent difference', async t => {
  for (const step of [0.01, 0.1, 0.5, 1]) {
    const got = quantumOf(inSteps(step))
    t.ok(Math.abs(got / step - 1) < 1e-6, `${step}: ${got}`)
  }
  const lossy = quantumOf(withLoss(inSteps(0.5), 0.4, 2))
  t.ok(Math.abs(lossy / 0.5 - 1) < 1e-6, 'with losses')
  const glitch = inSteps(0.5)
  glitch[100] = 20.0001
  t.ok(Math.abs(quantumOf(glitch) / 0.5 - 1) < 1e-6, 'one odd value is not seen often')
})

test('a sample of a long series is enough', async t => {
  const long = Float64Array.from({ length: 100_000 }, (_, i) => Math.round(300 * Math.sin(i / 500)) / 10)
  t.ok(Math.abs(quantumOf(long) / 0.1 - 1) < 1e-6)
})

test('a sensor without steps, and one that never moves, have none', async t => {
  t.equal(quantumOf(walk), 0)
  t.equal(quantumOf(new Float64Array(100).fill(1)), 0)
  t.equal(quantumOf(new Float64Array(0)), 0)
  t.equal(quantumOf(Float64Array.of(1, Number.NaN, 2, Number.NaN, 3)), 0)
})
