/**
 * What the table must show at the end: for each device and time the value that was acknowledged last. A value whose fate
 * was left open may be there or not; one that was refused must not.
 */

interface Handed {
  /** Device and time. */
  key: string
  value: number
  answer: 'stored' | 'full' | 'unknown'
}

type Table = Map<string, { values: Record<string, number> }>

export interface Reference {
  /** In the order of the journal; the group stands at or behind `position`. */
  hand(entries: Handed[], position: number): void
  /** All differences between the table and what was promised. */
  compare(table: Table): string[]
  /** Keys of acknowledged records from one position to another for which the table shows nothing, or an older value. */
  missing(table: Table, from: number, to: number): string[]
}

export function createReference(): Reference {
  /** The values that each key may show; undefined stands for none. */
  const allowed = new Map<string, Set<number | undefined>>()
  const stored: { key: string; value: number; position: number }[] = []
  const shown = (table: Table, key: string) => table.get(key)?.values['temperature']

  return {
    hand(entries, position) {
      for (const { key, value, answer } of entries) {
        const values = allowed.get(key) ?? new Set([undefined])
        if (answer === 'stored') values.clear()
        if (answer !== 'full') values.add(value)
        allowed.set(key, values)
        if (answer === 'stored') stored.push({ key, value, position })
      }
    },
    compare(table) {
      const wrong = [...allowed].filter(([key, values]) => !values.has(shown(table, key)))
      const phantoms = [...table.keys()].filter(key => !allowed.has(key))
      return [
        ...wrong.map(([key, values]) => `${key} shows ${shown(table, key)} and not ${[...values].join(' or ')}`),
        ...phantoms.map(key => `${key} was never handed over`),
      ]
    },
    missing(table, from, to) {
      const inside = stored.filter(({ position }) => position >= from && position < to)
      // Values count up, so a later one with the same key is the greater.
      return inside.filter(({ key, value }) => (shown(table, key) ?? -1) < value).map(({ key }) => key)
    },
  }
}
