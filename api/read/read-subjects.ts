/** Finds the subject of a read. A route declares it, and its handler gets the devices from it without own lookups. */

import type { FastifyRequest } from 'fastify'
import type { Device } from '../../auth/devices/device.ts'
import { readDevices } from '../http/parameters.ts'
import type { LoggerErrorCode } from '../http/status-operations.ts'
import { type Fleet, namedFleet, type Reader } from './readers.ts'

interface SubjectWith<Resolution> {
  readonly of: 'device' | 'devices' | 'fleet' | 'station'
  /** Query parameters that name devices. */
  readonly parameters: readonly string[]
  /** Resolves the subject among the devices that the reader may read. */
  resolve(request: FastifyRequest, reader: Reader): Resolution
}

/** Resolves from memory. */
export type Subject<About> = SubjectWith<Resolved<About>>
/** Resolves from a registry outside memory. */
export type AwaitedSubject<About> = SubjectWith<Promise<Resolved<About>>>

export type Resolved<About> =
  | { readonly ok: true; readonly about: About }
  /** `text` is the error of a parameter. */
  | { readonly ok: false; readonly code: LoggerErrorCode; readonly text?: string }

type Query = Readonly<Record<string, string | string[] | undefined>>

export function deviceInPath(parameter: string): Subject<Device> {
  return {
    of: 'device',
    parameters: [],
    resolve({ params }, reader) {
      const device = reader.device((params as Record<string, string>)[parameter] ?? '')
      return device === undefined ? { ok: false, code: reader.refusal } : { ok: true, about: device }
    },
  }
}

export function devicesInQuery(...parameters: readonly string[]): Subject<readonly Device[]> {
  const text = `${parameters.join(' and ')} must each name a device`
  return {
    of: 'devices',
    parameters,
    resolve({ query }, reader) {
      const names = parameters.map(parameter => (query as Query)[parameter])
      return names.every(isName) ? devicesOf(names, reader) : { ok: false, code: 'PARAMETER_INVALID', text }
    },
  }
}

function isName(value: string | string[] | undefined): value is string {
  return typeof value === 'string' && value !== ''
}

/** All devices that the reader may read. */
export const wholeFleet: Subject<Fleet> = {
  of: 'fleet',
  parameters: [],
  resolve: (_request, reader) => fleetOf(reader),
}

/** All devices whose places the reader may learn. */
export const mappedFleet: Subject<Fleet> = {
  of: 'fleet',
  parameters: [],
  resolve: (_request, { fleet, mapped = fleet, refusal }) => fleetOf({ fleet: mapped ?? undefined, refusal }),
}

/** All devices, or only those that a parameter lists with commas. */
export function fleetOrListed(parameter: string): Subject<Fleet> {
  return {
    of: 'fleet',
    parameters: [parameter],
    resolve({ query }, reader) {
      const list = (query as Query)[parameter]
      if (list === undefined) return fleetOf(reader)
      const found = readDevices(list, reader.device)
      if (!found.ok) return { ok: false, code: found.code === 'DEVICE_UNKNOWN' ? reader.refusal : found.code }
      return { ok: true, about: namedFleet(reader.fleet?.scope, found.devices) }
    },
  }
}

/** All devices, or only those that a repeated parameter names. `finderOf` finds them for a reader. */
export function fleetOrNamed(
  parameter: string,
  devicesMax: number,
  finderOf: (reader: Reader) => Reader['device'] = reader => reader.device,
): Subject<Fleet> {
  return {
    of: 'fleet',
    parameters: [parameter],
    resolve({ query }, reader) {
      const value = (query as Query)[parameter]
      if (value === undefined) return fleetOf(reader)
      const names = [value].flat()
      if (names.length > devicesMax) {
        return { ok: false, code: 'PARAMETER_INVALID', text: `${parameter} may be given ${devicesMax} times` }
      }
      const found = devicesOf(names, reader, finderOf(reader))
      return found.ok ? { ok: true, about: namedFleet(reader.fleet?.scope, found.about) } : found
    },
  }
}

function devicesOf(names: readonly string[], reader: Reader, find = reader.device): Resolved<readonly Device[]> {
  const about: Device[] = []
  for (const name of names) {
    const device = find(name)
    if (device === undefined) return { ok: false, code: reader.refusal }
    about.push(device)
  }
  return { ok: true, about }
}

function fleetOf({ fleet, refusal }: Pick<Reader, 'fleet' | 'refusal'>): Resolved<Fleet> {
  return fleet === undefined ? { ok: false, code: refusal } : { ok: true, about: fleet }
}
