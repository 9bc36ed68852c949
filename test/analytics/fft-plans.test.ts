/** Fourier transforms against their definition. */

import { test } from 'tap'
import { fftPlan, transformSize } from '../../analytics/spectrum/fft-plans.ts'
import { autoregressive } from './series.ts'

/** Σ z_t·exp(−2πi·kt/size) of complex numbers, real and imaginary parts in turn. */
function transformed(input: Float64Array): Float64Array {
  const size = input.length / 2
  const output = new Float64Array(input.length)
  for (let k = 0; k < size; k++) {
    for (let i = 0; i < size; i++) {
      const angle = (-2 * Math.PI * ((i * k) % size)) / size
      const [a, b] = [input[2 * i] as number, input[2 * i + 1] as number]
      output[2 * k] = (output[2 * k] as number) + a * Math.cos(angle) - b * Math.sin(angle)
      output[2 * k + 1] = (output[2 * k + 1] as number) + a * Math.sin(angle) + b * Math.cos(angle)
    }
  }
  return output
}

function largestDifference(a: Float64Array, b: Float64Array): number {
  return a.reduce((largest, value, i) => Math.max(largest, Math.abs(value - (b[i] as number))), 0)
}

test('a transform is the sum of its definition, for real and for complex numbers', async t => {
  for (const size of [2, 4, 8, 32, 64]) {
    const input = autoregressive(2 * size, 0.5, size)
    const output = new Float64Array(2 * size)
    fftPlan(size).transform(output, input)
    t.ok(largestDifference(output, transformed(input)) < 1e-12, `size ${size}`)
    const real = input.map((value, i) => (i % 2 === 0 ? value : 0))
    fftPlan(size).realTransform(
      output,
      Float64Array.from({ length: size }, (_, i) => real[2 * i] as number),
    )
    const half = size + 2
    t.ok(largestDifference(output.subarray(0, half), transformed(real).subarray(0, half)) < 1e-12, `size ${size}, real`)
  }
})

test('plans are kept, the last used ones, up to a bound', async t => {
  const small = fftPlan(64)
  t.equal(fftPlan(64), small)
  fftPlan(1 << 19)
  t.equal(fftPlan(64), small, 'a large plan beside it')
  fftPlan(1 << 20)
  t.not(fftPlan(64), small, 'there was no room beside the largest')
  t.throws(() => fftPlan(48))
  t.throws(() => fftPlan(1))
})

test('a size is the next power of two', async t => {
  t.strictSame([0, 1, 2, 3, 4, 5, 43_200].map(transformSize), [2, 2, 2, 4, 4, 8, 65_536])
})
