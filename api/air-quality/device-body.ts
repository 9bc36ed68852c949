/**
 * Reads the body of POST and PUT of a device: a whole object as it was read, or a few fields, some under other names.
 */

import { z } from 'zod'
import { NewStationFields, StationChangeFields } from '../../auth/stations/station.ts'

/** Other names of fields that clients send. */
const aliases = {
  is_private: 'private',
  is_outdoors: 'outdoors',
  lat: 'latitude',
  lon: 'longitude',
  description: 'location',
} as const

/** Unknown fields are dropped. */
const NewDevice = NewStationFields.extend({ owner: z.string().max(320).nullish() })
const DeviceChange = StationChangeFields.extend({ sn: z.string().optional() })

/** The contract has the other names of fields, too. */
export const NewDeviceBody = withAliases(NewDevice).meta({ id: 'NewAirQualityDevice' })
export const DeviceChangeBody = withAliases(DeviceChange).meta({ id: 'AirQualityDeviceChange' })

function withAliases(schema: z.ZodObject): z.ZodObject {
  const fields = Object.entries(aliases).map(([alias, name]) => {
    const field = schema.shape[name] as z.ZodType
    return [alias, field.optional().meta({ description: `Another name of ${name}` })]
  })
  return schema.extend(Object.fromEntries(fields))
}

export type ReadBody<Value> = { ok: true; value: Value } | { ok: false; message: string }

export function readNewDevice(body: unknown): ReadBody<z.infer<typeof NewDevice>> {
  return read(NewDevice, body)
}

export function readDeviceChange(body: unknown): ReadBody<z.infer<typeof DeviceChange>> {
  return read(DeviceChange, body)
}

function read<Value>(schema: z.ZodType<Value>, body: unknown): ReadBody<Value> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { ok: false, message: 'the body must be a JSON object' }
  }
  const named = withoutAliases(body)
  if (!named.ok) return named
  const parsed = schema.safeParse(named.value)
  if (parsed.success) return { ok: true, value: parsed.data }
  const messages = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  return { ok: false, message: messages.join('; ') }
}

/** Two names of one field with different values are refused: a private device must not become public. */
function withoutAliases(body: object): ReadBody<Record<string, unknown>> {
  const value: Record<string, unknown> = { ...body }
  for (const [alias, name] of Object.entries(aliases)) {
    if (!Object.hasOwn(value, alias)) continue
    if (Object.hasOwn(value, name) && value[name] !== value[alias]) {
      return { ok: false, message: `${alias} and ${name} differ` }
    }
    value[name] = value[alias]
  }
  return { ok: true, value }
}
