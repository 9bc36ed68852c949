/** A timeline below the charts of readings: stretches of time, one below the other where at the same time. */

import type { Panel } from './panel.ts'
import type { Stretch } from './stretch.ts'

interface TimelineStretch extends Stretch {
  readonly text: string
  /** A custom property. */
  readonly colour: string
}

export interface Timeline {
  readonly key: string
  readonly title: string
  /** Ascending by their beginnings; at least one. */
  readonly stretches: readonly TimelineStretch[]
  /** The readout at a moment. */
  readonly textAt: (atMs: number) => string | null
}

const timelineHeight = 48
/** More at the same time are drawn over each other. */
const rowsMax = 5

export function timelinePanel({ key, title, stretches, textAt }: Timeline): Panel {
  const rows = rowsOf(stretches)
  const rowCount = Math.max(...rows) + 1
  const startsMs = [...new Set(stretches.map(({ fromMs }) => fromMs))]
  return {
    key,
    title,
    unit: '',
    decimals: 0,
    height: timelineHeight + 24 * (rowCount - 1),
    content: {
      columns: { timesMs: startsMs, lines: [startsMs.map(() => 0)] },
      lines: [{ colour: '--accent', width: 0, points: 'none' }],
      blocks: stretches.map(({ fromMs, toMs, text, colour }, place) => {
        const row = rows[place] as number
        return { fromMs, toMs, low: row, high: row + 0.9, colour, text }
      }),
      range: [0, rowCount],
      ticks: [],
      decimals: 0,
    },
    readouts: [{ timesMs: startsMs, values: [], textAt }],
    reachMs: 0,
  }
}

/** The first row that is free, from below. */
function rowsOf(stretches: readonly Stretch[]): number[] {
  const endsMs: number[] = []
  return stretches.map(({ fromMs, toMs }) => {
    const free = endsMs.findIndex(endMs => endMs <= fromMs)
    const row = free === -1 ? Math.min(endsMs.length, rowsMax - 1) : free
    endsMs[row] = toMs
    return row
  })
}
