/** The shapes of the answers as their clients read them. Every test that reads an answer checks its shape. */

import { test } from 'tap'
import { z } from 'zod'
import { DayReadings } from '../../query/day.ts'
import { MetricDescription } from '../../query/shapes/kinds.ts'
import { metricKinds } from '../../store/metrics/metric.ts'
import { shapeOfRead } from '../support/answer-shapes.ts'

type Schema = z.core.JSONSchema.BaseSchema

function objectsIn(schema: unknown, place: string): [string, Schema][] {
  if (typeof schema !== 'object' || schema === null) return []
  const inside = Object.entries(schema).flatMap(([name, part]) => objectsIn(part, `${place}/${name}`))
  return (schema as Schema).type === 'object' ? [[place, schema as Schema], ...inside] : inside
}

test('each shape has a JSON schema that leaves no field open', async t => {
  for (const [name, shape] of shapeOfRead) {
    const objects = objectsIn(z.toJSONSchema(shape), name)
    t.ok(objects.length > 0, name)
    for (const [place, { additionalProperties, propertyNames, required }] of objects) {
      const names = propertyNames as Schema | undefined
      // A record of one shape for given names is an object of exactly these. Members beside them are custom metrics.
      if (typeof additionalProperties === 'object' && names?.enum === undefined)
        t.not(Object.keys(additionalProperties).length, 0, place)
      else if (names === undefined) t.equal(additionalProperties, false, place)
      else t.strictSame(names.enum, required, place)
    }
  }
})

test('kinds of metrics equal the registry', async t => {
  t.strictSame(MetricDescription.shape.kind.options, metricKinds)
})

test('an undeclared field and a missing field are refused', async t => {
  const point = { d: '2026-01-01 00:00', v: 1 }
  const day = { temperature: [point], humidity: [], pressure: [] }
  t.ok(DayReadings.safeParse(day).success)
  for (const wrong of [
    { ...day, co2: [] },
    { ...day, temperature: [{ ...point, t: 1 }] },
    { temperature: [], humidity: [] },
    { ...day, pressure: [{ ...point, d: '2026-01-01T00:00' }] },
  ]) {
    t.notOk(DayReadings.safeParse(wrong).success, JSON.stringify(wrong))
  }
})
