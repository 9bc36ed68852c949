/**
 * Devices that are not registered and send in formats of sensors. Strangers choose the names, so the list is bounded as a whole
 * and by sender: the least recently seen device leaves first.
 */

import { nameFault } from '../../auth/devices/device.ts'
import { catalogueEntry } from '../../store/metrics/catalogue.ts'
import { metricNameOf } from '../../store/metrics/metric-name.ts'
import { composed } from '../../store/plain-text.ts'
import type { Fields } from '../field-names.ts'
import { boundedText } from './bounded-text.ts'
import type { RejectionSource, RejectionWay, UnregisteredReading } from './rejection.ts'

export interface UnknownDevice {
  name: string
  way: RejectionWay
  sender: string
  owner: number | null
  family: string
  /** Limited in number. */
  metrics: string[]
  messages: number
  firstMs: number
  latestMs: number
}

export const unknownDevicesMax = 300
const perSenderMax = 100
const metricsMax = 16
const fieldsMax = 64
/** A name of more units is too long for a device, and need not be composed. */
const nameUnitsMax = 256

export class UnknownDevices {
  readonly #max: number
  readonly #perSenderMax: number
  /** Keys are sender and name, so that no sender changes the entry of another one. The least recently seen is first. */
  readonly #devices = new Map<string, UnknownDevice>()

  constructor(max = unknownDevicesMax, senderMax = perSenderMax) {
    this.#max = max
    this.#perSenderMax = senderMax
  }

  add({ device = '', way, sender }: RejectionSource, reading: UnregisteredReading, nowMs: number): void {
    const name = newName(device)
    if (name === undefined) return
    const key = keyOf(sender.name, name)
    const known = this.#devices.get(key)
    if (known === undefined) this.#makeRoom(sender.name)
    else this.#devices.delete(key)
    const { messages, firstMs, metrics } = known ?? { messages: 0, firstMs: nowMs, metrics: [] }
    addMetrics(metrics, reading.fields)
    const counted = { metrics, messages: messages + 1, firstMs, latestMs: nowMs }
    const { family, owner } = reading
    this.#devices.set(key, { name, way, sender: sender.name, owner, family, ...counted })
  }

  /** Latest first. Drops the devices that have been registered meanwhile. */
  list(isRegistered: (name: string) => boolean): UnknownDevice[] {
    this.#drop(({ name }) => isRegistered(name))
    return [...this.#devices.values()].reverse()
  }

  forget(device: string): void {
    const forgotten = composed(device)
    this.#drop(({ name }) => name === forgotten)
  }

  #drop(isDropped: (device: UnknownDevice) => boolean): void {
    for (const [key, device] of this.#devices) if (isDropped(device)) this.#devices.delete(key)
  }

  /** Walks a few hundred entries, and only for a new name. */
  #makeRoom(sender: string): void {
    const own = [...this.#devices.values()].filter(device => device.sender === sender)
    const isOwnFull = own.length >= this.#perSenderMax
    const [oldest] = isOwnFull ? own : this.#devices.values()
    if (oldest === undefined || !(isOwnFull || this.#devices.size >= this.#max)) return
    this.#devices.delete(keyOf(oldest.sender, oldest.name))
  }
}

/** These texts contain no line break. */
function keyOf(sender: string, name: string): string {
  return `${sender}\n${name}`
}

/** Undefined for a name that no device can have. A copy, since a part of a message keeps the whole message in memory. */
function newName(text: string): string | undefined {
  if (text.length > nameUnitsMax) return undefined
  const name = composed(text)
  return nameFault(name) === undefined ? boundedText(name, nameUnitsMax) : undefined
}

function addMetrics(metrics: string[], fields: Fields): void {
  let left = fieldsMax
  for (const field in fields) {
    if (metrics.length === metricsMax || left-- === 0) return
    const name = metricNameOf(field)
    const metric = name === undefined ? undefined : (catalogueEntry(name)?.name ?? name)
    if (metric !== undefined && !metrics.includes(metric)) metrics.push(metric)
  }
}
