/** A dashboard that fills the screen; of more rows than fit, a page after the other. */

import type { Panel } from '../../auth/views/panel.ts'
import { dropLinks } from '../client/drop-links.ts'
import type { ResourceState } from '../client/resource-state.ts'
import { useSize } from '../client/screen.ts'
import { useServiceZone } from '../client/use-service-zone.ts'
import { Dashboard } from '../pages/dashboard/dashboard.tsx'
import { shownZone } from '../text/preferences.ts'
import { createTimes } from '../text/times.ts'
import { t } from '../words/words.ts'
import { useTurning } from './wall-fleet.tsx'
import { WallFrame, wallScale } from './wall-frame.tsx'

const everyMs = 10_000
/** A dashboard has more on a screen than the cards of a fleet. */
const scaleShare = 0.7
/** The least height of a row at a scale of 1. */
const rowHeight = { value: 110, others: 240 }
const narrowWidth = 700

dropLinks()

export interface WallDashboardProps {
  name: string
  panels: readonly Panel[]
  /** The view, which is read again with its panels. */
  state: ResourceState<unknown>
}

export function WallDashboard({ name, panels, state }: WallDashboardProps) {
  const { place, size } = useSize()
  const scale = Math.max(1, scaleShare * wallScale(size.width))
  const pages = pagesOf(rowsOf(panels, size.width < narrowWidth ? 1 : 4), size.height / scale)
  const { page, pages: count, isPaused } = useTurning(pages.length)
  const rows = pages[page] ?? []
  const times = createTimes(shownZone(useServiceZone() ?? 'UTC'))
  return (
    <WallFrame {...{ name, state, times }}>
      <div class="wall-dashboard" ref={place} style={{ '--wall-scale': scale }}>
        {size.width === 0 ? null : (
          <Dashboard
            panels={rows.flat()}
            rows={rows.map(row => (isOfValues(row) ? 'auto' : 'minmax(0, 1fr)')).join(' ')}
            {...{ everyMs, scale }}
          />
        )}
      </div>
      {/* Its line has its place before the number of pages is known. */}
      <p class="wall-pages">
        {count < 2
          ? '\u00a0'
          : `${t('Page {page} of {count}', { page: page + 1, count })}${isPaused ? t('. Paused: Space goes on') : ''}`}
      </p>
    </WallFrame>
  )
}

type Row = Panel[]

/** Rows are filled as the grid places the panels. */
function rowsOf(panels: readonly Panel[], columns: number): Row[] {
  const rows: Row[] = []
  let free = 0
  for (const panel of panels) {
    const width = Math.min(panel.width, columns)
    if (width > free) {
      rows.push([])
      free = columns
    }
    rows.at(-1)?.push(panel)
    free -= width
  }
  return rows
}

function isOfValues(row: Row): boolean {
  return row.every(({ kind }) => kind === 'value')
}

/** A page has at least one row. */
function pagesOf(rows: readonly Row[], height: number): Row[][] {
  const pages: Row[][] = []
  let free = 0
  for (const row of rows) {
    const need = isOfValues(row) ? rowHeight.value : rowHeight.others
    if (pages.length === 0 || need > free) {
      pages.push([])
      free = height
    }
    pages.at(-1)?.push(row)
    free -= need
  }
  return pages
}
