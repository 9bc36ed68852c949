/** The options that describe a device, as `devices add` and `devices set` know them. */

import { type Command, InvalidArgumentError } from 'commander'
import type { DeviceChange } from '../auth/devices/device.ts'

/** Checked by the server. */
type JsonObject = Record<string, unknown>

export interface DeviceOptions {
  locationShort?: string
  locationDesc?: string
  log?: boolean
  battery?: boolean
  altitude?: number | 'none'
  interval?: number | 'none'
  owner?: string
  limits?: JsonObject | 'none'
}

export function addDeviceOptions(command: Command): Command {
  return command
    .option('--location-short <text>', 'where it stands, in a word or two')
    .option('--location-desc <text>', 'where it stands, in a sentence')
    .option('--battery', 'it runs on a battery, and has to report it')
    .option('--altitude <metres>', 'metres above the sea, or none', numberOrNone)
    .option('--interval <seconds>', 'how often it is meant to report, or none', numberOrNone)
    .option('--owner <text>', 'whose it is; an empty text is nobody')
    .option('--limits <json>', 'from where on its readings are suspect, as JSON, or none', limitsOrNone)
}

/** Only what was said. */
export function changeOf(options: DeviceOptions): DeviceChange {
  const { locationShort, locationDesc, log, battery, altitude, interval, owner, limits } = options
  return {
    ...(locationShort === undefined ? {} : { location_short: locationShort }),
    ...(locationDesc === undefined ? {} : { location_desc: locationDesc }),
    ...(log === undefined ? {} : { log_switch: log }),
    ...(battery === undefined ? {} : { battery }),
    ...(altitude === undefined ? {} : { altitude_m: numberOf(altitude) }),
    ...(interval === undefined ? {} : { expected_interval_s: numberOf(interval) }),
    ...(owner === undefined ? {} : { owner: owner === '' ? null : owner }),
    ...(limits === undefined ? {} : { quality_limits: limits === 'none' ? null : limits }),
  }
}

function numberOf(value: number | 'none'): number | null {
  return value === 'none' ? null : value
}

/** Commander makes an empty text of null, so the word stands for it until the end. */
function numberOrNone(text: string): number | 'none' {
  if (text === 'none') return text
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It should be a number, or none.')
  return value
}

function limitsOrNone(text: string): JsonObject | 'none' {
  if (text === 'none') return text
  const limits = jsonOf(text)
  if (typeof limits === 'object' && limits !== null && !Array.isArray(limits)) return limits as JsonObject
  throw new InvalidArgumentError(`It should be JSON such as '{"pressure":{"min":700}}', or none.`)
}

/** Undefined for what is no JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
