/** What a device is: the shapes of a record, of what makes one and of what changes one. */

import { z } from 'zod'
import { metricsPerDeviceMax } from '../../store/metrics/metric-counts.ts'
import { MetricLimits } from '../../store/metrics/metric-limits.ts'
import { MetricName } from '../../store/metrics/metric-name.ts'
import { composed, plainText, visibleTextFault } from '../../store/plain-text.ts'
import { BatteryCells, BatteryType, Profile } from './device-profile.ts'
import { namePattern } from './name-pattern.ts'
import { Tags } from './tag.ts'

/** Where a device is, in degrees of WGS 84: both coordinates or neither. */
const coordinates = {
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
function withBothOrNone<Shape extends z.ZodType<Coordinates>>(shape: Shape): Shape {
  return checked(shape).meta(published)
}

/** Of a change: one alone would be that of another place than the one it has. */
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
 * Why a composed text can be the name of no new device; undefined for one that can.
 *
 * The name is the user of Basic authentication, which cannot carry a colon or control characters (RFC 7617), a level of
 * MQTT topics, which cannot carry the wildcards `+` and `#`, and a step of a path, where clients resolve `.` and `..` away
 * and proxies take `%2F` for a slash. Two names must not look the same, though letters of different scripts may.
 */
export function nameFault(name: string): string | undefined {
  if (/[:/+#]/.test(name)) return 'must not contain ":", "/", "+" or "#"'
  const fault = visibleTextFault(name, nameCharactersMax)
  if (fault !== undefined) return fault
  return name === '.' || name === '..' ? 'must not be "." or ".."' : undefined
}

/**
 * Composed and decomposed spellings are one name. Devices with older names go on working: only a new name is held
 * to this.
 */
export const DeviceName = z
  .string()
  .transform(composed)
  .superRefine((name, context) => {
    const message = nameFault(name)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })
  .meta({ minLength: 1, maxLength: nameCharactersMax, pattern: namePattern, not: { enum: ['.', '..'] } })

/** By the names of metrics as `store/tables.ts` has them. */
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

/** The account whose device it is. */
const accountId = z.int().min(1).max(2_147_483_647)
/** In a request, an ordinary account may also be named by its address. */
export const ownerName = z.union(
  [accountId, plainText({ min: 1, max: 254 })],
  'must be the id or the address of an account',
)
export type OwnerName = z.infer<typeof ownerName>

/** Which metrics a device has, in the order in which they are shown; null for whatever it sends. */
const DeviceMetrics = z
  .array(MetricName)
  .min(1)
  .max(metricsPerDeviceMax)
  .refine(names => new Set(names).size === names.length, 'must name each metric once')
  .nullable()

/** What an administrator may set. */
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

/** Makes a device. An unknown field is refused, since a typing error would otherwise pass as a default. */
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

/** The same as it is asked for. */
export const DeviceRequest = withBothOrNone(newDevice.extend({ owner: ownerName.nullable().default(null) }))
export type DeviceRequest = z.infer<typeof DeviceRequest>

/** Changes a device: at least one field, and only known ones. */
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

/** The same as it is asked for. */
export const DeviceChangeRequest = changeOf(ownerName.nullable())
export type DeviceChangeRequest = z.infer<typeof DeviceChangeRequest>

/** What the rest of the service asks a record. */
export const Device = z.object({
  /** Never reused, so what belongs to a removed device stays apart from a new one of the same name. */
  number: z.int(),
  name: z.string(),
  /** The key of its readings in QuestDB: made by us, and unchanged by a new name. */
  symbol: z.string(),
  ...settings,
  /** As they were set, in the order of their keys. */
  tags: z.array(z.string()),
})
export type Device = Readonly<z.infer<typeof Device>> & {
  /** It may have been revoked, which is being found out; until then it logs nothing. */
  readonly suspended?: boolean
  /** It is not in the registry any more. */
  readonly removed?: boolean
  /** Sequence number of its last change. */
  readonly authSeq?: number
}

/** What a device is called, or was when it was removed. */
export interface NamedDevice {
  number: number
  symbol: string
  name: string
  location_short: string
  removed: boolean
  /** Of its last change. */
  sequence: number
}

/** The whole record for an administrator; secrets are not in it. */
export const DeviceDetails = Device.extend({
  created_at: z.iso.datetime(),
  last_seen: z.iso.datetime().nullable(),
  /** `rotating` while an old password is still good beside the new one, until `old_password_until`. */
  credential: z.enum(['current', 'rotating']),
  old_password_until: z.iso.datetime().nullable(),
})
export type DeviceDetails = z.infer<typeof DeviceDetails>

/** A device and the password that only its holder knows from now on. */
export const IssuedPassword = z.object({ device: z.string(), password: z.string() })
export type IssuedPassword = z.infer<typeof IssuedPassword>

/** Until when the password before the new one is good, or null when it has ended. */
export const Rotated = IssuedPassword.extend({ old_password_until: z.iso.datetime().nullable() })
export type Rotated = z.infer<typeof Rotated>

/** The readable half of a symbol: `Küche (Nord)` gives `kuche-nord`. */
export function slugOf(name: string): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
  const slug = words.replace(/^-/, '').slice(0, 40).replace(/-$/, '')
  return slug === '' ? 'device' : slug
}
