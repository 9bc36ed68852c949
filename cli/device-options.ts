/** The options of `devices add` and `devices set` that describe a device, and the fields of the request that they become. */

import { Option } from 'commander'
import { BatteryType, Profile } from '../auth/devices/device-profile.ts'
import type { OptionRow } from './operation-commands.ts'
import { collected, jsonObjectOrNone, namesOrNone, numberOrNone, ownerOf } from './option-values.ts'

export const deviceOptions: readonly OptionRow[] = [
  ['--location-short <text>', 'short location, such as a room'],
  ['--location-desc <text>', 'description of the location'],
  ['--battery', 'battery-powered; readings must include the battery voltage or percentage'],
  ['--altitude <metres>', 'altitude in metres above sea level, or none', numberOrNone],
  ['--latitude <degrees>', 'latitude in degrees, south negative, or none; with --longitude', numberOrNone],
  ['--longitude <degrees>', 'longitude in degrees, west negative, or none; with --latitude', numberOrNone],
  ['--expected-interval <seconds>', 'expected reporting interval in seconds, or none', numberOrNone],
  new Option('--interval <seconds>', 'its name before').argParser(numberOrNone).hideHelp(),
  ['--owner <account>', 'e-mail address or id of the account that owns it; an empty text clears it', ownerOf],
  ['--limits <json>', 'limits beyond which readings are flagged as suspect, as JSON, or none', jsonObjectOrNone],
  [
    '--metrics <names>',
    'metrics that it has, comma-separated, in the order shown, or none for all that it sends',
    namesOrNone,
  ],
  ['--tag <tag>', 'a tag such as site:berlin, once for each; they replace those that it has', collected],
  ['--profile <profile>', 'its purpose, which adds statistics', Profile.options],
  ['--battery-type <type>', 'type of its battery, or none', [...BatteryType.options, 'none']],
  ['--battery-cells <number>', 'cells of its battery in series, or none', numberOrNone],
]

export const deviceFields = {
  log: 'log_switch',
  altitude: 'altitude_m',
  interval: 'expected_interval_seconds',
  expected_interval: 'expected_interval_seconds',
  limits: 'quality_limits',
  tag: 'tags',
}

interface DeviceFields {
  /** False with --no-tags, and true without it, unless there are tags. */
  tags?: string[] | boolean
  battery_type?: string
}

export function deviceBody({ tags = true, battery_type, ...fields }: DeviceFields): object {
  return {
    ...fields,
    tags: tags === true ? undefined : tags || [],
    battery_type: battery_type === 'none' ? null : battery_type,
  }
}
