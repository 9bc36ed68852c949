/** Plans of Fourier transforms; the transforms themselves are held by the spectra and correlations that are made of them. */

import { test } from 'tap'
import { fftPlan, transformSize } from '../../analytics/spectrum/fft-plans.ts'

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
