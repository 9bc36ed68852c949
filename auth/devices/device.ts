/** Declares devices: the shapes of a record, of an addition and of a change. */

import { z } from 'zod'
import { metricsPerDeviceMax } from '../../store/metrics/metric-counts.ts'
import { MetricLimits } from '../../store/metrics/metric-limits.ts'
import { MetricName } from '../../store/metrics/metric-name.ts'
import { composed, plainText, visibleTextFault } from '../../store/plain-text.ts'
import { BatteryCells, BatteryType, Profile } from './device-profile.ts'
import { namePattern } from './name-pattern.ts'
import { Tags } from './tag.ts'

/** Location in degrees of WGS 84: both coordinates or neither. */
const coordinates = {
  latitude: z.number().min(-90).max(90).nullable(),
  longitude: z.number().min(-180).max(180).nullable(),
}

interface Coordinates {
  latitude?: number | null | undefined
  longitude?: number | null | undefined
}

const bothOf = (type: string) => ({ properties: { latitude: { type }, longitude: { type } } })
/** Client generators turn `anyOf` into types without the other properties. They ignore these keywords. */
const published = {
  if: { properties: { latitude: { type: 'null' } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: bothOf('null'),
  else: { ...bothOf('number'), required: ['latitude', 'longitude'] },
}
const together = { latitude: ['longitude'], longitude: ['latitude'] }

/** Missing fields of a new device are null. */
function withBothOrNone<Shape extends z.ZodType<Coordinates>>(shape: Shape): Shape {
  return checked(shape).meta(published)
}

/** A change needs both: a single coordinate would combine two places. */
function withBothOrUnchanged<Shape extends z.ZodType<Coordinates>>(shape: Shape): Shape {
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

const nameCharactersMax = 64

/**
 * Returns why a composed text cannot be a new device's name; undefined if it can.
 *
 * The name is the user of Basic authentication, which excludes colons and control characters (RFC 7617). It is a level
 * of MQTT topics, which excludes the wildcards `+` and `#`. It is a segment of a path, where clients resolve `.` and
 * `..` and proxies decode `%2F`. Two names must not look the same, though letters of different scripts may.
 */
export function nameFault(name: string): string | undefined {
  if (/[:/+#]/.test(name)) return 'must not contain ":", "/", "+" or "#"'
  const fault = visibleTextFault(name, nameCharactersMax)
  if (fault !== undefined) return fault
  return name === '.' || name === '..' ? 'must not be "." or ".."' : undefined
}

/** Composed and decomposed spellings are one name. Only new names are checked. */
export const DeviceName = z
  .string()
  .transform(composed)
  .superRefine((name, context) => {
    const message = nameFault(name)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })
  .meta({ minLength: 1, maxLength: nameCharactersMax, pattern: namePattern, not: { enum: ['.', '..'] } })

/** Keys are the metrics' names in `store/tables.ts`. */
export const QualityLimits = z
  .strictObject({
    temperature: MetricLimits,
    humidity: MetricLimits,
    pressure: MetricLimits,
    battery_voltage: MetricLimits,
    battery_percentage: MetricLimits,
  })
  .partial()
export type QualityLimits = z.infer<typeof QualityLimits>

const accountId = z.int().min(1).max(2_147_483_647)
/** A request may name an ordinary account by its address. */
export const ownerName = z.union(
  [accountId, plainText({ min: 1, max: 254 })],
  'must be the id or the address of an account',
)
export type OwnerName = z.infer<typeof ownerName>

/** Metrics of a device in their shown order; null for all metrics that it sends. */
const DeviceMetrics = z
  .array(MetricName)
  .min(1)
  .max(metricsPerDeviceMax)
  .refine(names => new Set(names).size === names.length, 'must name each metric once')
  .nullable()

const settings = {
  location_short: plainText({ max: 128 }),
  location_desc: plainText({ max: 1024 }),
  log_switch: z.boolean(),
  battery: z.boolean(),
  altitude_m: z.number().min(-500).max(10_000).nullable(),
  ...coordinates,
  expected_interval_seconds: z.int().min(1).max(31_622_400).nullable(),
  owner: accountId.nullable(),
  quality_limits: QualityLimits.nullable(),
  metrics: DeviceMetrics,
  tags: Tags,
  profile: Profile,
  battery_type: BatteryType.nullable(),
  battery_cells: BatteryCells.nullable(),
}

/** Describes a new device. Unknown fields are refused, since a misspelled one would otherwise become a default. */
const newDevice = z.strictObject({
  name: DeviceName,
  location_short: settings.location_short.default(''),
  location_desc: settings.location_desc.default(''),
  log_switch: settings.log_switch.default(true),
  battery: settings.battery.default(false),
  altitude_m: settings.altitude_m.default(null),
  latitude: settings.latitude.default(null),
  longitude: settings.longitude.default(null),
  expected_interval_seconds: settings.expected_interval_seconds.default(null),
  owner: settings.owner.default(null),
  quality_limits: settings.quality_limits.default(null),
  metrics: settings.metrics.default(null),
  tags: settings.tags.default([]),
  profile: settings.profile.default('none'),
  battery_type: settings.battery_type.default(null),
  battery_cells: settings.battery_cells.default(null),
})
export const NewDevice = withBothOrNone(newDevice)
export type NewDevice = z.infer<typeof NewDevice>

export const DeviceRequest = withBothOrNone(newDevice.extend({ owner: ownerName.nullable().default(null) }))
export type DeviceRequest = z.infer<typeof DeviceRequest>

/** Describes a change: at least one field, and only known ones. */
function changeOf<Owner extends z.ZodType>(owner: Owner) {
  const change = z.strictObject({ name: DeviceName, ...settings, owner }).partial()
  return withBothOrUnchanged(
    change
      .refine(change => Object.keys(change).length > 0, 'must name at least one field to change')
      .meta({ minProperties: 1 }),
  )
}
export const DeviceChange = changeOf(settings.owner)
export type DeviceChange = z.infer<typeof DeviceChange>

export const DeviceChangeRequest = changeOf(ownerName.nullable())
export type DeviceChangeRequest = z.infer<typeof DeviceChangeRequest>

/** The part of a record that the rest of the service reads. */
export const Device = z.object({
  /** Not reused, so data of a removed device stays apart from a new device of the same name. */
  number: z.int(),
  name: z.string(),
  /** Key of its readings in QuestDB. The service generates it, and renaming keeps it. */
  symbol: z.string(),
  ...settings,
  /** Ordered by key. */
  tags: z.array(z.string()),
})
export type Device = Readonly<z.infer<typeof Device>> & {
  /** It may have been revoked. Until that is known, it logs nothing. */
  readonly suspended?: boolean
  /** It was removed from the registry. */
  readonly removed?: boolean
  /** Sequence number of its last change. */
  readonly authSeq?: number
}

export interface NamedDevice {
  number: number
  symbol: string
  name: string
  location_short: string
  removed: boolean
  /** Sequence number of its last change. */
  sequence: number
}

/** The record for an administrator, without secrets. */
export const DeviceDetails = Device.extend({
  created_at: z.iso.datetime(),
  last_seen: z.iso.datetime().nullable(),
  /** `rotating` while an old password is valid besides the new one, until `old_password_until`. */
  credential: z.enum(['current', 'rotating']),
  old_password_until: z.iso.datetime().nullable(),
})
export type DeviceDetails = z.infer<typeof DeviceDetails>

/** A device with its new password, which is shown only once. */
export const IssuedPassword = z.object({ device: z.string(), password: z.string() })
export type IssuedPassword = z.infer<typeof IssuedPassword>

/** End of the old password's validity, or null if it has ended. */
export const Rotated = IssuedPassword.extend({ old_password_until: z.iso.datetime().nullable() })
export type Rotated = z.infer<typeof Rotated>

/** The readable part of a symbol: `Küche (Nord)` becomes `kuche-nord`. */
export function slugOf(name: string): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
  const slug = words.replace(/^-/, '').slice(0, 40).replace(/-$/, '')
  return slug === '' ? 'device' : slug
}
