/** Devices: the columns of the registry, and the shapes of a record, of an addition, of a change and of a page. */

import { z } from 'zod'
import { MetricLimits, metricsPerDeviceMax } from '../../store/metrics/metric.ts'
import { MetricName } from '../../store/metrics/metric-name.ts'
import { composed, plainText, visibleTextFault } from '../../store/plain-text.ts'
import { listPageFields } from '../list-page.ts'
import { namePattern } from './name-pattern.ts'
import { Tags } from './tag.ts'

export const Profile = z.enum(['none', 'weather', 'indoor', 'cold_chain', 'pharmacy', 'greenhouse'])
export type Profile = z.infer<typeof Profile>

export const BatteryType = z.enum(['alkaline', 'li-ion', 'lifepo4', 'li-primary', 'coin', 'nimh'])
export type BatteryType = z.infer<typeof BatteryType>

/** Cells in series. */
const BatteryCells = z.int().min(1).max(24)

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
const QualityLimits = z
  .strictObject({
    temperature: MetricLimits,
    humidity: MetricLimits,
    pressure: MetricLimits,
    battery_voltage: MetricLimits,
    battery_percentage: MetricLimits,
  })
  .partial()

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

interface Column<Schema extends z.ZodType> {
  schema: Schema
  /** Value of a new device. */
  unset: z.output<Schema>
  /** Option of the command and its description. */
  option?: readonly [flags: string, description: string]
  /** Column of PostgreSQL with another name than the field. */
  column?: string
}

function column<Schema extends z.ZodType>(
  schema: Schema,
  unset: z.output<Schema>,
  flags?: string,
  description = '',
  more: Pick<Column<Schema>, 'column'> = {},
): Column<Schema> {
  return { schema, unset, ...(flags === undefined ? {} : { option: [flags, description] }), ...more }
}

/**
 * The settings of a device. The statements, the record, the requests, the columns of CSV files and the options of
 * commands follow from this list. A new entry needs a migration with its column.
 */
export const deviceColumns = {
  location_short: column(plainText({ max: 128 }), '', '--location-short <text>', 'short location, such as a room'),
  location_desc: column(plainText({ max: 1024 }), '', '--location-desc <text>', 'description of the location'),
  log_switch: column(z.boolean(), true),
  battery: column(
    z.boolean(),
    false,
    '--battery',
    'battery-powered; readings must include the battery voltage or percentage',
  ),
  altitude_m: column(
    z.number().min(-500).max(10_000).nullable(),
    null,
    '--altitude <metres>',
    'altitude in metres above sea level, or none',
  ),
  latitude: column(
    coordinates.latitude,
    null,
    '--latitude <degrees>',
    'latitude in degrees, south negative, or none; with --longitude',
  ),
  longitude: column(
    coordinates.longitude,
    null,
    '--longitude <degrees>',
    'longitude in degrees, west negative, or none; with --latitude',
  ),
  expected_interval_seconds: column(
    z.int().min(1).max(31_622_400).nullable(),
    null,
    '--expected-interval <seconds>',
    'expected reporting interval in seconds, or none',
    { column: 'expected_interval_s' },
  ),
  owner: column(
    accountId.nullable(),
    null,
    '--owner <account>',
    'e-mail address or id of the account that owns it; an empty text clears it',
  ),
  quality_limits: column(
    QualityLimits.nullable(),
    null,
    '--limits <json>',
    'limits beyond which readings are flagged as suspect, as JSON, or none',
  ),
  metrics: column(
    DeviceMetrics,
    null,
    '--metrics <names>',
    'metrics that it has, comma-separated, in the order shown, or none for all that it sends',
  ),
  tags: column(Tags, [], '--tag <tag>', 'a tag such as site:berlin, once for each; they replace those that it has'),
  profile: column(Profile, 'none', '--profile <profile>', 'its purpose, which adds statistics'),
  battery_type: column(BatteryType.nullable(), null, '--battery-type <type>', 'type of its battery, or none'),
  battery_cells: column(
    BatteryCells.nullable(),
    null,
    '--battery-cells <number>',
    'cells of its battery in series, or none',
  ),
}
type Columns = typeof deviceColumns
export type DeviceSetting = keyof Columns
export type DeviceSettings = { [Field in DeviceSetting]: z.output<Columns[Field]['schema']> }

export const deviceSettings = Object.keys(deviceColumns) as DeviceSetting[]

function settingsBy(pick: (field: DeviceSetting) => unknown): object {
  return Object.fromEntries(deviceSettings.map(field => [field, pick(field)]))
}

/** A loop, because a hundred thousand records are made at the start. */
export function copySettings<To extends object>(from: DeviceSettings, to: To): To & DeviceSettings {
  const copied = to as Record<string, unknown>
  for (const field of deviceSettings) copied[field] = from[field]
  return to as To & DeviceSettings
}

export const unsetSettings = settingsBy(field => deviceColumns[field].unset) as DeviceSettings

const settings = settingsBy(field => deviceColumns[field].schema) as {
  [Field in DeviceSetting]: Columns[Field]['schema']
}
const settingsOrUnset = settingsBy(field => {
  const { schema, unset }: Column<z.ZodType> = deviceColumns[field]
  return schema.default(unset)
}) as { [Field in DeviceSetting]: z.ZodDefault<Columns[Field]['schema']> }

/** Describes a new device. Unknown fields are refused, since a misspelled one would otherwise become a default. */
const newDevice = z.strictObject({ name: DeviceName, ...settingsOrUnset })
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
  /** Numbers are not reused, so data of a removed device stays apart from a new device of the same name. */
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

export const DevicePage = z.object({
  devices: z.array(DeviceDetails),
  ...listPageFields,
})
export type DevicePage = z.infer<typeof DevicePage>
