/** The table of the classes of stamps in memory, and a network that loses answers and delivers statements late. */

import type { LeasedClass, LeaseRequest, StampClassRows } from '../../../ingest/journal/stamp-classes.ts'

interface Row {
  class: number
  holder: string | undefined
  isExpired: boolean
  boundUs: number
}

export class ModelClassRows implements StampClassRows {
  readonly #rows: Row[]

  constructor(classes: number) {
    this.#rows = Array.from({ length: classes }, (_, at) => ({
      class: at + 1,
      holder: undefined,
      isExpired: false,
      boundUs: 0,
    }))
  }

  async lease(holder: string, { classesMax, boundsUs }: LeaseRequest) {
    const rank = (row: Row) => (row.holder === holder ? 0 : row.holder === undefined ? 1 : 2)
    const open = this.#rows.filter(row => rank(row) < 2 || row.isExpired)
    const mine = open.sort((a, b) => rank(a) - rank(b) || a.boundUs - b.boundUs || a.class - b.class)
    return mine.slice(0, classesMax).map((row): LeasedClass => {
      const beforeUs = row.boundUs
      row.holder = holder
      row.isExpired = false
      row.boundUs = Math.max(beforeUs, boundsUs.get(row.class) ?? 0)
      return { class: row.class, beforeUs, boundUs: row.boundUs }
    })
  }

  async release(holder: string, boundsUs: ReadonlyMap<number, number>): Promise<void> {
    for (const row of this.#rows) {
      if (row.holder !== holder) continue
      row.holder = undefined
      row.boundUs = boundsUs.get(row.class) ?? row.boundUs
    }
  }

  async raise(highestUs: readonly number[]): Promise<void> {
    for (const row of this.#rows) row.boundUs = Math.max(row.boundUs, highestUs[row.class % highestUs.length] ?? 0)
  }

  async expire(holder: string): Promise<void> {
    for (const row of this.#rows) if (row.holder === holder) row.isExpired = true
  }
}

/** The fate of a statement: executed and answered, lost before it ran, executed without an answer, or executed much later. */
export type Fate = 'answered' | 'lost' | 'unanswered' | 'late'

/** `nextFate` decides on each statement. `deliver` executes the late ones. */
export function createLossyRows(rows: StampClassRows, nextFate: () => Fate) {
  const late: (() => Promise<unknown>)[] = []

  async function pass<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const fate = nextFate()
    if (fate === 'late') late.push(work)
    if (fate === 'answered' || fate === 'unanswered') {
      const answer = await work()
      if (fate === 'answered') return answer
    }
    throw new Error(fate)
  }

  const lossy: StampClassRows = {
    lease: (holder, request) => pass(() => rows.lease(holder, request)),
    release: (holder, boundsUs) => pass(() => rows.release(holder, boundsUs)),
    raise: highestUs => rows.raise(highestUs),
  }
  return {
    rows: lossy,
    async deliver() {
      for (const work of late.splice(0)) await work()
    },
  }
}
