/** The panels of a dashboard in rows of four columns. */

import './dashboard.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import type { Panel } from '../../../auth/views/panel.ts'
import type { LatestOfDevice } from '../../../query/live/fleet-shape.ts'
import { limitReads } from '../../client/read-json.ts'
import { lastValue } from '../../client/resource-state.ts'
import { useSize } from '../../client/screen.ts'
import { useResources } from '../../client/use-resource.ts'
import { useServiceZone } from '../../client/use-service-zone.ts'
import { Skeleton } from '../../parts/loading.tsx'
import { shownZone } from '../../text/preferences.ts'
import { createTimes } from '../../text/times.ts'
import { createZone } from '../../text/zone.ts'
import { t } from '../../words/words.ts'
import { BarsPanel, LinePanel, latestAddress, ValuePanel } from './device-panels.tsx'
import { FindingsPanel, ListPanel, MapPanel } from './fleet-panels.tsx'
import { type PanelContext, titleOf } from './panel-context.ts'
import { useLive } from './use-live.ts'

/** Twelve panels may need a hundred answers. */
const readsMax = 4
const everyMsUsual = 60_000

export interface DashboardProps {
  readonly panels: readonly Panel[]
  readonly everyMs?: number
  /** Text and lines are larger by this factor than on a desk. */
  readonly scale?: number
  /** Rows of a height of their own: `grid-template-rows`. */
  readonly rows?: string
  /** Controls in the head of a panel. */
  readonly controls?: (panel: Panel, place: number) => ComponentChildren
}

export function Dashboard({ panels, everyMs = everyMsUsual, scale = 1, rows, controls }: DashboardProps) {
  useEffect(() => limitReads(readsMax), [])
  const timeZone = useServiceZone()
  const clock = shownZone(timeZone ?? 'UTC')
  const zone = useMemo(() => createZone(clock), [clock])
  const times = useMemo(() => createTimes(clock), [clock])
  const live = useLiveOf(panels, everyMs)
  if (timeZone === undefined) return <Skeleton name={t('The dashboard is loading')} rows={8} />
  const context = { live, zone, times, scale, everyMs }
  return (
    <ul class="dashboard" style={rows === undefined ? undefined : { gridTemplateRows: rows }}>
      {panels.map((panel, place) => (
        <li key={keyOf(panel)} class={`dash-panel wide-${panel.width} ${panel.kind}-panel`} data-place={place}>
          <div class="dash-head">
            <h2>{titleOf(panel)}</h2>
            {controls?.(panel, place)}
          </div>
          <Body {...{ panel, context }} />
        </li>
      ))}
    </ul>
  )
}

function Body({ panel, context }: { panel: Panel; context: PanelContext }) {
  const { place, size } = useSize()
  const given = { panel, context, size }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields, and a section for each panel is a landmark too many
    // biome-ignore lint/a11y/noNoninteractiveTabindex: its content may be longer than the panel, and scrolls by keys
    <div class="dash-body" ref={place} role="group" aria-label={titleOf(panel)} tabIndex={0}>
      {size.width === 0 ? null : <Content {...given} />}
    </div>
  )
}

function Content(given: { panel: Panel; context: PanelContext; size: { width: number; height: number } }) {
  switch (given.panel.kind) {
    case 'line':
      return <LinePanel {...given} />
    case 'bars':
    case 'state':
      return <BarsPanel {...given} />
    case 'value':
      return <ValuePanel {...given} />
    case 'map':
      return <MapPanel {...given} />
    case 'findings':
      return <FindingsPanel {...given} />
    case 'list':
      return <ListPanel {...given} />
  }
}

/** One stream: of all devices where a list shows them, else of the devices of values that exist. */
function useLiveOf(panels: readonly Panel[], everyMs: number) {
  const values = panels.filter(({ kind }) => kind === 'value')
  const names = [...new Set(values.flatMap(({ devices }) => devices))].sort()
  const latest = useResources<LatestOfDevice>(names.map(latestAddress), { everyMs })
  const known = names.filter((_, place) => lastValue(latest[place] ?? { kind: 'loading' }) !== undefined)
  const isLoading = latest.some(({ kind }) => kind === 'loading')
  return useLive(panels.some(({ kind }) => kind === 'list') ? undefined : isLoading ? [] : known)
}

let count = 0
const keys = new WeakMap<Panel, number>()

/** A panel keeps its elements when it moves. */
function keyOf(panel: Panel): number {
  const key = keys.get(panel) ?? count++
  keys.set(panel, key)
  return key
}
