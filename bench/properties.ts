/**
 * False positive and false negative rates of the statistics on random series with fixed seeds: one JSON line per
 * property, with its limits. Deterministic: the same on every machine.
 *
 * Usage: node bench/properties.ts [--runs 200] [--only words]
 */

import { parseArgs } from 'node:util'
import { properties } from '../test/properties/properties.ts'
import { keepsBounds, rateOf } from '../test/properties/property.ts'
import { printResult, round } from './measure.ts'

const { values: options } = parseArgs({
  options: { runs: { type: 'string', default: '200' }, only: { type: 'string', default: '' } },
})
const runs = Number(options.runs)

for (const property of properties.filter(({ name }) => name.includes(options.only))) {
  const { name, atLeast, atMost } = property
  const rate = rateOf(property, runs)
  const ok = keepsBounds(property, rate)
  printResult({ property: name, runs, rate: round(rate), atLeast, atMost, ok })
  if (!ok) process.exitCode = 1
}
