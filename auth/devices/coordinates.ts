/** Where a device is, in degrees of WGS 84: both coordinates or neither. */

import { z } from 'zod'

export const coordinates = {
  latitude: z.number().min(-90).max(90).nullable(),
  longitude: z.number().min(-180).max(180).nullable(),
}

interface Coordinates {
  latitude?: number | null | undefined
  longitude?: number | null | undefined
}

const bothOf = (type: string) => ({ properties: { latitude: { type }, longitude: { type } } })
/** Generators of clients make types of branches (`anyOf`) that lack the other properties; these keywords they leave out. */
const published = {
  if: { properties: { latitude: { type: 'null' } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: bothOf('null'),
  else: { ...bothOf('number'), required: ['latitude', 'longitude'] },
}
const together = { latitude: ['longitude'], longitude: ['latitude'] }

/** Of a new device, where what is missing is null. */
export function withBothOrNone<Shape extends z.ZodType<Coordinates>>(shape: Shape): Shape {
  return checked(shape).meta(published)
}

/** Of a change: one alone would be that of another place than the one it has. */
export function withBothOrUnchanged<Shape extends z.ZodType<Coordinates>>(shape: Shape): Shape {
  return checked(shape).meta({ ...published, dependentRequired: together })
}

function checked<Shape extends z.ZodType<Coordinates>>(shape: Shape): Shape {
  return shape.superRefine(({ latitude, longitude }, context) => {
    if (kindOf(latitude) === kindOf(longitude)) return
    const path = [kindOf(latitude) === 'given' ? 'longitude' : 'latitude']
    context.addIssue({ code: 'custom', message: 'must be given with the other coordinate', path })
  })
}

function kindOf(value: number | null | undefined): 'missing' | 'none' | 'given' {
  if (value === undefined) return 'missing'
  return value === null ? 'none' : 'given'
}
