import { test } from 'tap'
import { binMeans, frameOf, gridStepMs } from '../../../analytics/time/grid.ts'
import { deviation, type Fixture, floats, readFixture, timesFrom } from '../fixture.ts'

const dayMs = 86_400_000

test('cells match pandas’ resample', async t => {
  for (const [name, { start, steps_between, values, grids }] of Object.entries<Fixture>(readFixture('grid'))) {
    const timesMs = timesFrom(start * 1000, steps_between)
    for (const [step, expected] of Object.entries<Fixture>(grids)) {
      const frame = frameOf(timesMs[0] as number, timesMs.at(-1) as number, Number(step) * 1000)
      t.strictSame(frame, { stepMs: Number(step) * 1000, startMs: expected.start * 1000, cells: expected.cells }, name)
      const means = binMeans(timesMs, floats(values), frame)
      const places = [...means.keys()].filter(cell => !Number.isNaN(means[cell]))
      t.strictSame(places, expected.places, `${name}, ${step} s: the cells with data`)
      const errors = places.map((cell, index) => deviation(means[cell] as number, expected.means[index] ?? null))
      t.ok(Math.max(...errors) < 1e-12, `${name}, ${step} s: ${Math.max(...errors)}`)
    }
  }
})

test('the step is the smallest that the device fills with few enough cells', async t => {
  const step = (seconds: number | null, days: number) =>
    gridStepMs(seconds === null ? null : seconds * 1000, 0, days * dayMs - 1) / 1000
  const steps = [60, 61, 63, 64, 300, 310, 3600].map(seconds => step(seconds, 30))
  t.strictSame(steps, [60, 60, 60, 120, 300, 300, 3600])
  t.strictSame(
    [7000, 7200, 10_000, 43_200, 86_400].map(seconds => step(seconds, 30)),
    [7200, 7200, 10_800, 43_200, 43_200],
  )
  t.equal(step(null, 30), 60)
  t.strictSame([step(60, 91), step(60, 92), step(1, 366), step(1, 3650), step(1, 36_500)], [60, 120, 300, 3600, 43_200])
})

test('a cell is half open, and begins at a multiple of the step since 1970', async t => {
  const timesMs = Float64Array.of(59_999, 60_000, 119_999, 120_000)
  const frame = frameOf(59_999, 120_000, 60_000)
  t.strictSame(frame, { stepMs: 60_000, startMs: 0, cells: 3 })
  t.strictSame([...binMeans(timesMs, Float64Array.of(1, 2, 4, 8), frame)], [1, 3, 8])
  const inside = { stepMs: 60_000, startMs: 60_000, cells: 1 }
  t.strictSame([...binMeans(timesMs, Float64Array.of(1, 2, 4, 8), inside)], [3], 'samples outside are left out')
  t.ok(binMeans(timesMs, new Float64Array(4).fill(Number.NaN), frame).every(Number.isNaN), 'nothing gives no cell')
})
