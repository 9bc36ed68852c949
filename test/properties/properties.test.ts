/** The properties of the statistics over one seed each, and twenty in test/long. `bench/properties.ts` measures 200. */

import { test } from 'tap'
import { properties } from './properties.ts'
import { keepsBounds, shortForm } from './property.ts'

for (const property of properties) {
  test(property.name, async t => {
    const { runs, rate, ok } = shortForm(property)
    t.ok(ok, `${rate} of ${runs} runs, at least ${property.atLeast ?? 0}, at most ${property.atMost ?? 1}`)
  })
}

test('a rate outside of its bounds is seen', async t => {
  const even = { name: 'half of the runs', run: (seed: number) => seed % 2 === 0 }
  t.ok(shortForm({ ...even, atLeast: 0.5, atMost: 0.5 }, 100).ok)
  t.ok(shortForm({ ...even, atMost: 0.45 }, 100).ok, 'few runs scatter')
  t.notOk(shortForm({ ...even, atMost: 0.05 }, 100).ok)
  t.notOk(shortForm({ ...even, atLeast: 0.95 }, 100).ok)
  t.notOk(keepsBounds({ ...even, atMost: 0.45 }, 0.5))
  t.equal(new Set(properties.map(({ name }) => name)).size, properties.length, 'each has a name of its own')
})
