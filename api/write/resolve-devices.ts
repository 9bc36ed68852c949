/** Resolves the devices and fields of readings. */

import { setImmediate as turn } from 'node:timers/promises'
import type { Device } from '../../auth/devices/device.ts'
import type { BulkFields } from '../../auth/metrics/device-fields.ts'
import { type CredentialWriter, type WriteRefusal, type Writer, writeRefusalReason } from '../../auth/writers.ts'
import { NamesUnavailable } from '../../ingest/import/import.ts'
import type { FieldResolver, FindKnown, SentField } from '../../ingest/import/resolve-names.ts'
import type { Sender } from './sender.ts'

/** Reason why readings of the name are refused. */
interface Unresolved {
  code: WriteRefusal
  reason: string
}

/** Names in a turn of the event loop: refusing an invalid name takes some microseconds. */
const namesPerTurn = 500

/**
 * Adds unknown devices if the API key may. Returns `later` while the outcome is unknown: a client drops rejected
 * readings for good, and repeats a request after a 503.
 */
export async function resolveDevices(
  names: readonly string[],
  writer: Writer,
): Promise<(Device | Unresolved)[] | 'later'> {
  const resolved: (Device | Unresolved)[] = []
  for (let from = 0; from < names.length; from += namesPerTurn) {
    if (from > 0) await turn()
    const some = await resolveSome(names.slice(from, from + namesPerTurn), writer)
    if (some === 'later') return 'later'
    resolved.push(...some)
  }
  return resolved
}

/** Resolves from memory without adding devices. */
function findDevices(names: readonly string[], writer: Writer): (Device | Unresolved)[] | 'later' {
  const found = names.map(name => writer.find(name))
  if (found.includes('DEVICE_SUSPENDED')) return 'later'
  return found.map((each, at) => {
    return typeof each === 'string' ? { code: each, reason: writeRefusalReason(each, names[at] ?? '') } : each
  })
}

/** Resolves known names again without adding devices; see `FindKnown`. */
export function createFindKnown(writer: () => CredentialWriter): FindKnown {
  return (number, authSeq) => {
    const device = writer().unchanged(number, authSeq)
    if (device === undefined) return undefined
    const found = writer().check(device)
    if (typeof found !== 'string') return found
    if (found === 'DEVICE_SUSPENDED') throw changing()
    return { name: device.name, code: found, reason: writeRefusalReason(found, device.name) }
  }
}

/** A client drops rejected readings for good, and repeats a request after a 503. */
function changing(): NamesUnavailable {
  return new NamesUnavailable('a device is being changed, or PostgreSQL does not answer')
}

async function resolveSome(names: readonly string[], writer: Writer): Promise<(Device | Unresolved)[] | 'later'> {
  if (writer.mayCreateDevices) {
    const unknown = names.filter(name => writer.find(name) === 'DEVICE_UNKNOWN')
    if (unknown.length > 0 && (await writer.createDevices(unknown)) === 'later') return 'later'
  }
  return findDevices(names, writer)
}

export function createFieldResolver({ resolve, metricsOf }: BulkFields, sender: Sender): FieldResolver {
  return {
    find: names => known(findDevices(names, sender.writer())),
    // The registry has resolved these.
    resolve: async sent =>
      known(await resolve(sent as readonly (SentField & { device: Device })[], sender.writer().id)),
    metricsOf,
  }
}

export function known<Found>(found: Found | 'later'): Found {
  if (found !== 'later') return found
  throw changing()
}
