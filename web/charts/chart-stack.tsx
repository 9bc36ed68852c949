/** Charts below each other that share their time: one cursor, one range, moved by mouse, touch and keys. */

import './charts.css'
import { type Signal, useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { Zone } from '../text/zone.ts'
import type { Times } from '../theme/times.ts'
import { t } from '../words/words.ts'
import { keyAction, moveCursor } from './chart-keys.ts'
import { timesHeight } from './chart-look.ts'
import { createLineChart, type LineChart } from './line-chart.ts'
import type { Panel } from './panel.ts'
import { CursorTime, CursorValues, PanelValues } from './panel-values.tsx'
import { pan, select, type TimeWindow, zoom } from './range.ts'
import { centreOf, drawnWindow, spokenAt, timesIn } from './readouts.ts'

interface ChartStackProps {
  /** A description of the charts for screen readers. */
  readonly label: string
  readonly panels: readonly Panel[]
  readonly window: TimeWindow
  /** The charts continue to here behind the window, for a forecast. The cursor cannot select readings there. */
  readonly untilMs?: number | undefined
  readonly nowMs: number
  readonly zone: Zone
  readonly times: Times
  /** Text and lines of the charts are larger by this factor than on a desk. */
  readonly scale?: number
  readonly onWindow: (window: TimeWindow) => void
  readonly onReset: () => void
}

export function ChartStack(props: ChartStackProps) {
  const { label, panels, window, untilMs, nowMs, times, scale = 1, onWindow, onReset } = props
  const drawn = useMemo(() => drawnWindow({ window, untilMs }), [window, untilMs])
  const host = useRef<HTMLDivElement>(null)
  const cursor = useSignal<number | undefined>(undefined)
  const spoken = useSignal('')
  // Listeners use the props of the last rendering.
  const latest = useRef(props)
  latest.current = props

  useGestures(host, latest)

  function onKeyDown(event: KeyboardEvent): void {
    const action = keyAction(event)
    if (action === undefined) return
    event.preventDefault()
    if (action.kind === 'pan') onWindow(pan(window, action.share, nowMs))
    else if (action.kind === 'zoom') onWindow(zoom(window, action.factor, centreOf(window, cursor.value), nowMs))
    else if (action.kind === 'reset') onReset()
    else {
      // Without a position, the cursor begins at a reading.
      const isNowhere = cursor.value === undefined
      cursor.value = moveCursor(action, cursor.value, timesIn(panels, window, isNowhere ? undefined : untilMs))
      spoken.value = cursor.value === undefined ? t('No values here.') : spokenAt(props, cursor.value)
    }
  }

  return (
    <div class="charts">
      <div
        ref={host}
        class="chart-stack"
        role="application"
        aria-roledescription="charts"
        aria-label={t('{label}. Arrow keys move the cursor, with Shift the range; plus and minus zoom, 0 resets.', {
          label,
        })}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: its keys move the cursor
        tabIndex={0}
        onKeyDown={onKeyDown}
        onDblClick={onReset}
      >
        <CursorTime cursor={cursor} window={drawn} times={times} scale={scale} content={panels[0]?.content ?? {}} />
        {panels.map((panel, place) => (
          <PanelView
            key={panel.key}
            panel={panel}
            isLast={place === panels.length - 1}
            cursor={cursor}
            drawn={drawn}
            {...props}
          />
        ))}
      </div>
      <p class="unseen" aria-live="polite">
        {spoken}
      </p>
    </div>
  )
}

function useGestures(host: RefObject<HTMLDivElement>, latest: RefObject<ChartStackProps>): void {
  useEffect(() => {
    const element = host.current
    if (element === null) return undefined
    const moment = (clientX: number) => {
      const { fromMs, toMs } = drawnWindow(latest.current as ChartStackProps)
      const { left, width } = element.getBoundingClientRect()
      return fromMs + ((clientX - left) / width) * (toMs - fromMs)
    }
    return listenToGestures(element, {
      zoom(factor, clientX) {
        const { window, nowMs, onWindow } = latest.current as ChartStackProps
        onWindow(zoom(window, factor, centreOf(window, moment(clientX)), nowMs))
      },
      pan(share) {
        const { window, nowMs, onWindow } = latest.current as ChartStackProps
        onWindow(pan(window, share, nowMs))
      },
    })
  }, [host, latest])
}

interface PanelViewProps extends ChartStackProps {
  /** The window with the forecast behind it. */
  drawn: TimeWindow
  panel: Panel
  isLast: boolean
  cursor: Signal<number | undefined>
}

function PanelView({ panel, isLast, cursor, window, drawn, zone, nowMs, onWindow, scale = 1 }: PanelViewProps) {
  const host = useRef<HTMLDivElement>(null)
  const chart = useRef<LineChart | undefined>(undefined)
  const now = useRef({ panel, window, drawn, nowMs, onWindow })
  now.current = { panel, window, drawn, nowMs, onWindow }
  const height = panel.height + (isLast ? timesHeight * scale : 0)
  const shape = JSON.stringify([panel.content.lines, panel.content.bands, panel.content.ticks, panel.content.right])

  // `shape` changes when another chart is needed. Other changes are applied below.
  useEffect(() => {
    const element = host.current as HTMLDivElement
    const made = createLineChart(element, {
      height,
      hasTimes: isLast,
      scale,
      zone,
      content: now.current.panel.content,
      window: now.current.drawn,
      reachMs: () => now.current.panel.reachMs,
      onPoint: atMs => {
        cursor.value = atMs
      },
      onSelect: (fromMs, toMs) => {
        const { window: ofReadings, nowMs: atMs, onWindow: show } = now.current
        if (fromMs < ofReadings.toMs) show(select(fromMs, Math.min(toMs, ofReadings.toMs), atMs))
      },
    })
    chart.current = made
    const stopWatching = watchAppearance(element, made.refresh)
    const stopFollowing = cursor.subscribe(made.setCursor)
    return () => {
      chart.current = undefined
      stopFollowing()
      stopWatching()
      made.close()
    }
  }, [shape, height, isLast, zone, scale])
  useEffect(() => chart.current?.setContent(panel.content), [panel.content])
  useEffect(() => {
    chart.current?.setWindow(drawn)
    chart.current?.setCursor(cursor.peek())
  }, [drawn.fromMs, drawn.toMs])

  return (
    <div
      class="panel"
      style={{ '--own': `var(${panel.content.lines.find(({ width }) => width > 0)?.colour ?? '--accent'})` }}
    >
      <div class="panel-head">
        <h3>
          {panel.title} <span class="unit">{panel.unit}</span>
        </h3>
        <PanelValues panel={panel} window={window} />
      </div>
      <div class="panel-plot" aria-hidden="true">
        <div class="panel-chart" ref={host} style={{ minHeight: `${height}px` }} />
        <CursorValues {...{ panel, cursor, window, drawn, scale }} />
      </div>
    </div>
  )
}

/** Calls back when the element's width or the colours of the page have changed. Returns a function that ends it. */
function watchAppearance(element: HTMLElement, onChange: () => void): () => void {
  const resizes = new ResizeObserver(onChange)
  resizes.observe(element)
  const dark = matchMedia('(prefers-color-scheme: dark)')
  dark.addEventListener('change', onChange)
  return () => {
    resizes.disconnect()
    dark.removeEventListener('change', onChange)
  }
}

interface GestureActions {
  /** `factor` below 1 shows less, around a place on the screen. */
  zoom(factor: number, clientX: number): void
  /** `share` of the width; positive moves to later times. */
  pan(share: number): void
}

/** A finger moves the chart only after this distance, so that a tap selects a value. */
const slackPx = 8

/** Listens on the element until the function that is returned is called. */
function listenToGestures(element: HTMLElement, { zoom, pan }: GestureActions): () => void {
  const touches = new Map<number, number>()
  let moved = 0
  const spread = () => {
    const [one = 0, other = 0] = touches.values()
    return Math.max(20, Math.abs(one - other))
  }

  function onDown({ pointerType, pointerId, clientX }: PointerEvent): void {
    if (pointerType !== 'touch') return
    touches.set(pointerId, clientX)
    moved = 0
  }

  function onMove({ pointerId, clientX }: PointerEvent): void {
    const before = touches.get(pointerId)
    if (before === undefined) return
    const spreadBefore = spread()
    if (touches.size === 1) {
      moved += Math.abs(clientX - before)
      if (moved > slackPx) pan((before - clientX) / element.clientWidth)
    }
    touches.set(pointerId, clientX)
    if (touches.size !== 2) return
    const [one = 0, other = 0] = touches.values()
    zoom(spreadBefore / spread(), (one + other) / 2)
  }

  const onUp = ({ pointerId }: PointerEvent) => touches.delete(pointerId)

  function onWheel(event: WheelEvent): void {
    if (event.ctrlKey) {
      event.preventDefault()
      zoom(Math.exp(event.deltaY / 300), event.clientX)
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault()
      pan(event.deltaX / element.clientWidth)
    }
  }

  const ending = new AbortController()
  const { signal } = ending
  element.addEventListener('pointerdown', onDown, { signal })
  element.addEventListener('pointermove', onMove, { signal })
  for (const name of ['pointerup', 'pointercancel'] as const) element.addEventListener(name, onUp, { signal })
  element.addEventListener('wheel', onWheel, { signal, passive: false })
  return () => ending.abort()
}
