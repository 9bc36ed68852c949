/** The options of `devices add` and `devices set` that describe a device. */

import { type Command, InvalidArgumentError, Option } from 'commander'
import type { DeviceChangeRequest } from '../auth/devices/device.ts'

/** Checked by the server. */
type JsonObject = Record<string, unknown>

export interface DeviceOptions {
  locationShort?: string
  locationDesc?: string
  log?: boolean
  battery?: boolean
  altitude?: number | 'none'
  expectedInterval?: number | 'none'
  /** The same, by its name before. */
  interval?: number | 'none'
  owner?: string
  limits?: JsonObject | 'none'
}

export function addDeviceOptions(command: Command): Command {
  return command
    .option('--location-short <text>', 'short location, such as a room')
    .option('--location-desc <text>', 'description of the location')
    .option('--battery', 'battery-powered; readings must include the battery voltage or percentage')
    .option('--altitude <metres>', 'altitude in metres above sea level, or none', numberOrNone)
    .option('--expected-interval <seconds>', 'expected reporting interval in seconds, or none', numberOrNone)
    .addOption(new Option('--interval <seconds>', 'its name before').argParser(numberOrNone).hideHelp())
    .option('--owner <account>', 'e-mail address or id of the account that owns it; an empty text clears it')
    .option('--limits <json>', 'limits beyond which readings are flagged as suspect, as JSON, or none', limitsOrNone)
}

/** Only what was said. */
export function changeOf(options: DeviceOptions): DeviceChangeRequest {
  const { locationShort, locationDesc, log, battery, altitude, owner, limits } = options
  const interval = options.expectedInterval ?? options.interval
  return {
    ...(locationShort === undefined ? {} : { location_short: locationShort }),
    ...(locationDesc === undefined ? {} : { location_desc: locationDesc }),
    ...(log === undefined ? {} : { log_switch: log }),
    ...(battery === undefined ? {} : { battery }),
    ...(altitude === undefined ? {} : { altitude_m: numberOf(altitude) }),
    ...(interval === undefined ? {} : { expected_interval_seconds: numberOf(interval) }),
    ...(owner === undefined ? {} : { owner: ownerOf(owner) }),
    ...(limits === undefined ? {} : { quality_limits: limits === 'none' ? null : limits }),
  }
}

/** All digits are an id: no address is. */
export function ownerOf(text: string): string | number | null {
  if (text === '') return null
  return /^\d{1,10}$/.test(text) ? Number(text) : text
}

function numberOf(value: number | 'none'): number | null {
  return value === 'none' ? null : value
}

/** Commander makes an empty text of null, so the word stands for it until the end. */
function numberOrNone(text: string): number | 'none' {
  if (text === 'none') return text
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('Expected a number or none.')
  return value
}

function limitsOrNone(text: string): JsonObject | 'none' {
  if (text === 'none') return text
  const limits = jsonOf(text)
  if (typeof limits === 'object' && limits !== null && !Array.isArray(limits)) return limits as JsonObject
  throw new InvalidArgumentError(`Expected JSON such as '{"pressure":{"min":700}}' or none.`)
}

/** Undefined for invalid JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
