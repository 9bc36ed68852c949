/** The clock of a time zone: by how much it differs from UTC, and when its days begin. */

export const dayMs = 86_400_000
const quarterMs = 900_000
/** The widest offsets there are, with a margin. */
const offsetMsMax = 15 * 3_600_000
const offsetsMax = 10_000

export interface Zone {
  readonly name: string
  /** The zone's offset from UTC at a moment. */
  offsetMs(atMs: number): number
  /** The number of the local calendar day, counted from 1970-01-01. */
  dayOf(atMs: number): number
  /** The first moment of a local day: not always 0:00, since clocks change at midnight in some places. */
  dayStartMs(day: number): number
}

/** The moment of a `YYYY-MM-DD HH:mm` on the zone's clock; of one that comes twice, either. */
export function localMs(zone: Zone, text: string): number {
  const asUtcMs = Date.parse(`${text.replace(' ', 'T')}Z`)
  const nearMs = asUtcMs - zone.offsetMs(asUtcMs)
  return asUtcMs - zone.offsetMs(nearMs)
}

const made = new Map<string, Zone>()
const madeMax = 50

/** The same object for the same name: charts are drawn again for another one. */
export function createZone(name: string): Zone {
  const zone = made.get(name) ?? zoneOf(name)
  if (made.size >= madeMax) made.clear()
  made.set(name, zone)
  return zone
}

function zoneOf(name: string): Zone {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  const offsets = new Map<number, number>()

  /** Clocks change at full quarters of an hour, and formatting takes most of the time. */
  function offsetMs(atMs: number): number {
    const startMs = Math.floor(atMs / quarterMs) * quarterMs
    const known = offsets.get(startMs)
    if (known !== undefined) return known
    const parts = Object.fromEntries(format.formatToParts(startMs).map(({ type, value }) => [type, Number(value)]))
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts
    const found = Date.UTC(year, month - 1, day, hour, minute) - startMs
    if (offsets.size >= offsetsMax) offsets.clear()
    offsets.set(startMs, found)
    return found
  }

  const dayOf = (atMs: number) => Math.floor((atMs + offsetMs(atMs)) / dayMs)

  function dayStartMs(day: number): number {
    let beforeMs = day * dayMs - offsetMsMax
    let atMs = day * dayMs + offsetMsMax
    while (atMs - beforeMs > quarterMs) {
      const middleMs = Math.floor((beforeMs + atMs) / 2 / quarterMs) * quarterMs
      if (dayOf(middleMs) >= day) atMs = middleMs
      else beforeMs = middleMs
    }
    return atMs
  }

  return { name, offsetMs, dayOf, dayStartMs }
}
