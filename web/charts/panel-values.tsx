/** Texts beside the lines of charts: names with extremes above, time and values at the cursor. */

import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { Times } from '../theme/times.ts'
import { rightWidth, valuesWidth } from './chart-look.ts'
import type { Panel, Readout } from './panel.ts'
import type { TimeWindow } from './range.ts'
import { extremesText, readoutsAt, readoutText } from './readouts.ts'

interface CursorTimeProps {
  cursor: Signal<number | undefined>
  window: TimeWindow
  times: Times
  scale: number
  /** The content of the first chart. */
  content: Pick<Panel['content'], 'right'>
}

/** The moment at the cursor, or the range while there is none. */
export function CursorTime({ cursor, window: { fromMs, toMs }, times, scale, content }: CursorTimeProps) {
  const atMs = cursor.value
  const share = atMs === undefined ? 0 : (atMs - fromMs) / (toMs - fromMs)
  return (
    <p class="cursor-time">
      {atMs === undefined ? (
        `${times.dateTime(fromMs)} – ${times.dateTime(toMs)}`
      ) : (
        <strong style={besideStyle(share, valuesWidth * scale, rightWidth(content, scale))}>
          {times.dateTime(atMs)}
        </strong>
      )}
    </p>
  )
}

/** The names of the lines, and their last, lowest and highest values. */
export function PanelValues({ panel, window }: { panel: Panel; window: TimeWindow }) {
  const readouts = [...panel.readouts, ...(panel.ahead === undefined ? [] : [panel.ahead])]
  const shown = readouts.map(readout => ({ readout, text: extremesText(panel, readout, window) }))
  return (
    <p class="panel-values">
      {shown.map(({ readout, text }, place) =>
        readout.label === undefined && text === undefined ? null : (
          <ReadoutName key={place} readout={readout}>
            {text === undefined ? null : <span class="extremes">{text}</span>}
          </ReadoutName>
        ),
      )}
      {panel.keys?.map(({ colour, label }) => (
        <span key={label} class="swatch-key">
          <span class="swatch" style={{ background: `var(${colour})` }} />
          {label}
        </span>
      ))}
      {panel.marks === undefined ? null : <span class="key mark">{panel.marks.label}</span>}
    </p>
  )
}

function ReadoutName({ readout, children }: { readout: Readout; children: ComponentChildren }) {
  const { colour, look, label } = readout
  return (
    <span class={colour === undefined ? '' : `key ${colour}`}>
      {look === undefined ? null : <LineKey {...look} />}
      {label} {children}
    </span>
  )
}

interface CursorValuesProps extends Pick<CursorTimeProps, 'cursor' | 'window' | 'scale'> {
  panel: Panel
  /** The window with the forecast behind it. */
  drawn: TimeWindow
}

/** The values at the cursor, beside it. */
export function CursorValues({ panel, cursor, window, drawn, scale }: CursorValuesProps) {
  const atMs = cursor.value
  if (atMs === undefined || atMs < drawn.fromMs || atMs > drawn.toMs) return null
  const share = (atMs - drawn.fromMs) / (drawn.toMs - drawn.fromMs)
  return (
    <p class="cursor-values" style={besideStyle(share, valuesWidth * scale, rightWidth(panel.content, scale))}>
      {readoutsAt(panel, atMs, window).map((readout, place) => (
        <ReadoutName key={place} readout={readout}>
          <b>{readoutText(panel, readout, atMs)}</b>
        </ReadoutName>
      ))}
    </p>
  )
}

/** Right of a share of the plot, or left of it in the second half. `before` and `behind`: pixels around the plot. */
function besideStyle(share: number, before: number, behind: number): Record<string, string> {
  const within = Math.min(1, Math.max(0, share))
  const [side, from, own] = within <= 0.5 ? ['left', before, within] : ['right', behind, 1 - within]
  return { [side]: `calc(${from + 10}px + (100% - ${before + behind}px) * ${own})` }
}

/** A sample of a line's colour and dashes. */
export function LineKey({ colour, dash }: NonNullable<Readout['look']>) {
  return (
    <svg class="line-key" viewBox="0 0 32 8" width="32" height="8" aria-hidden="true">
      <path d="M0 4H32" stroke={`var(${colour})`} stroke-dasharray={dash.join(' ')} />
    </svg>
  )
}
