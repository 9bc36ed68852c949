/** Plans of Fourier transforms. The tests of spectra and correlations cover the transforms. */

import { test } from 'tap'
import { fftPlan, transformSize } from '../../../analytics/spectrum/fft-plans.ts'

test('the least recently used plans are dropped above a limit', async t => {
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
