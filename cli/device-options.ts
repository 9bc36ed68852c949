/** The options of `devices add` and `devices set` that describe a device. */

import { type Command, Option } from 'commander'
import type { DeviceChangeRequest } from '../auth/devices/device.ts'
import { BatteryType, Profile } from '../auth/devices/device-profile.ts'
import { collected, type JsonObject, jsonObjectOrNone, namesIn, numberOrNone } from './option-values.ts'

export interface DeviceOptions {
  locationShort?: string
  locationDesc?: string
  log?: boolean
  battery?: boolean
  altitude?: number | 'none'
  latitude?: number | 'none'
  longitude?: number | 'none'
  expectedInterval?: number | 'none'
  /** The same, by its name before. */
  interval?: number | 'none'
  owner?: string
  limits?: JsonObject | 'none'
  metrics?: string
  tag?: string[]
  /** False: none. */
  tags?: boolean
  profile?: Profile
  batteryType?: BatteryType | 'none'
  batteryCells?: number | 'none'
}

export function addDeviceOptions(command: Command): Command {
  return command
    .option('--location-short <text>', 'short location, such as a room')
    .option('--location-desc <text>', 'description of the location')
    .option('--battery', 'battery-powered; readings must include the battery voltage or percentage')
    .option('--altitude <metres>', 'altitude in metres above sea level, or none', numberOrNone)
    .option('--latitude <degrees>', 'latitude in degrees, south negative, or none; with --longitude', numberOrNone)
    .option('--longitude <degrees>', 'longitude in degrees, west negative, or none; with --latitude', numberOrNone)
    .option('--expected-interval <seconds>', 'expected reporting interval in seconds, or none', numberOrNone)
    .addOption(new Option('--interval <seconds>', 'its name before').argParser(numberOrNone).hideHelp())
    .option('--owner <account>', 'e-mail address or id of the account that owns it; an empty text clears it')
    .option(
      '--limits <json>',
      'limits beyond which readings are flagged as suspect, as JSON, or none',
      jsonObjectOrNone,
    )
    .option(
      '--metrics <names>',
      'metrics that it has, comma-separated, in the order shown, or none for all that it sends',
    )
    .option('--tag <tag>', 'a tag such as site:berlin, once for each; they replace those that it has', collected)
    .addOption(new Option('--profile <profile>', 'its purpose, which adds statistics').choices(Profile.options))
    .addOption(
      new Option('--battery-type <type>', 'type of its battery, or none').choices([...BatteryType.options, 'none']),
    )
    .option('--battery-cells <number>', 'cells of its battery in series, or none', numberOrNone)
}

/** Only what was said. */
export function changeOf(options: DeviceOptions): DeviceChangeRequest {
  const { locationShort, locationDesc, log, battery, altitude, owner, limits, metrics } = options
  const interval = options.expectedInterval ?? options.interval
  return {
    ...(locationShort === undefined ? {} : { location_short: locationShort }),
    ...(locationDesc === undefined ? {} : { location_desc: locationDesc }),
    ...(log === undefined ? {} : { log_switch: log }),
    ...(battery === undefined ? {} : { battery }),
    ...(altitude === undefined ? {} : { altitude_m: numberOf(altitude) }),
    ...coordinatesOf(options),
    ...(interval === undefined ? {} : { expected_interval_seconds: numberOf(interval) }),
    ...(owner === undefined ? {} : { owner: ownerOf(owner) }),
    ...(limits === undefined ? {} : { quality_limits: limits === 'none' ? null : limits }),
    ...tagsOf(options),
    ...(metrics === undefined ? {} : { metrics: metrics === 'none' ? null : namesIn(metrics) }),
    ...profileOf(options),
  }
}

function coordinatesOf({ latitude, longitude }: DeviceOptions): Pick<DeviceChangeRequest, 'latitude' | 'longitude'> {
  return {
    ...(latitude === undefined ? {} : { latitude: numberOf(latitude) }),
    ...(longitude === undefined ? {} : { longitude: numberOf(longitude) }),
  }
}

function profileOf({
  profile,
  batteryType,
  batteryCells,
}: DeviceOptions): Pick<DeviceChangeRequest, 'profile' | 'battery_type' | 'battery_cells'> {
  return {
    ...(profile === undefined ? {} : { profile }),
    ...(batteryType === undefined ? {} : { battery_type: batteryType === 'none' ? null : batteryType }),
    ...(batteryCells === undefined ? {} : { battery_cells: numberOf(batteryCells) }),
  }
}

function tagsOf({ tag, tags }: DeviceOptions): { tags?: string[] } {
  return tag === undefined && tags !== false ? {} : { tags: tag ?? [] }
}

/** All digits are an id: no address is. */
export function ownerOf(text: string): string | number | null {
  if (text === '') return null
  return /^\d{1,10}$/.test(text) ? Number(text) : text
}

function numberOf(value: number | 'none'): number | null {
  return value === 'none' ? null : value
}
