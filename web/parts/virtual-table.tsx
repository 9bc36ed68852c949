/**
 * A table of any length that scrolls with the page and has only visible rows in the document. Screen readers get the
 * true number of rows. One row or heading is in the Tab order. Arrow keys, Page Up and Down, Home and End move it.
 */

import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { layoutOf, type RowLayout, rowAfterKey, type Window, windowOf } from './virtual-rows.ts'

export interface Column<Row> {
  /** The key is also the class of its cells. */
  key: string
  label: string
  /** A track of the grid, as `96px` or `minmax(160px, 1fr)`. */
  width: string
  /** True if the table can be sorted by it. */
  isSortable?: boolean
  cell: (row: Row) => ComponentChildren
}

/** Stands above the rows of a group. */
export interface RowHeading {
  /** Distinct from the keys of rows. */
  key: string
  /** The first row of the group, or where it would be. */
  before: number
  /** Its first button gets the focus. */
  content: ComponentChildren
}

export interface VirtualTableProps<Row> {
  /** A name for screen readers. */
  name: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  /** The row's first checkbox or link gets the focus. */
  rowHeight: number
  headings?: readonly RowHeading[]
  headingHeight?: number
  /** True if rows have several lines, laid out by the style sheet. */
  isNarrow: boolean
  sort: { key: string; isDescending: boolean }
  onSort: (key: string) => void
  /** Receives the rows in the document whenever they change. */
  onShown?: (rows: readonly Row[]) => void
}

const noHeadings: readonly RowHeading[] = []

export function VirtualTable<Row>(props: VirtualTableProps<Row>) {
  const { name, columns, rows, keyOf, isNarrow, sort, onSort, onShown, headings = noHeadings } = props
  const body = useRef<HTMLTableSectionElement>(null)
  const layout = useLayout(props)
  const shown = useWindow(body, layout)
  const { active, move, setActive } = useActivePlace(body, layout, props)

  useEffect(
    () => onShown?.(rows.slice(layout.rowAt(shown.from), layout.rowAt(shown.to))),
    [rows, layout, shown.from, shown.to, onShown],
  )

  // The active row stays in the document, in its order, so that scrolling does not move the focus.
  const places = range(shown)
  if (active < shown.from) places.unshift(active)
  else if (active >= shown.to && layout.count > 0) places.push(active)
  return (
    <table
      class={isNarrow ? 'sorted virtual narrow' : 'sorted virtual'}
      aria-label={name}
      aria-rowcount={layout.count + 1}
      style={{ '--columns': columns.map(({ width }) => width).join(' ') }}
    >
      <thead>
        <tr aria-rowindex={1}>
          {columns.map(column => (
            <HeaderCell key={column.key} column={column} sort={sort} onSort={onSort} />
          ))}
        </tr>
      </thead>
      <tbody ref={body} style={{ height: `${layout.height}px` }} onKeyDown={move}>
        {places.map(place => {
          const heading = headings[layout.headingAt(place) ?? -1]
          const row = rows[layout.rowAt(place)] as Row
          const key = heading === undefined ? keyOf(row) : heading.key
          return (
            <BodyRow
              key={key}
              {...{ layout, place }}
              isHeading={heading !== undefined}
              isActive={place === active}
              onFocus={() => setActive(key)}
            >
              {heading === undefined ? (
                columns.map(column => (
                  <td key={column.key} class={column.key}>
                    {column.cell(row)}
                  </td>
                ))
              ) : (
                <th scope="rowgroup" colSpan={columns.length}>
                  {heading.content}
                </th>
              )}
            </BodyRow>
          )
        })}
      </tbody>
    </table>
  )
}

function useLayout<Row>({ rows, rowHeight, headings = noHeadings, headingHeight = 0 }: VirtualTableProps<Row>) {
  return useMemo(
    () => layoutOf({ rows: rows.length, rowHeight, headings: headings.map(({ before }) => before), headingHeight }),
    [rows.length, rowHeight, headings, headingHeight],
  )
}

/** The place in the Tab order and its key bindings. */
function useActivePlace<Row>(
  body: { current: HTMLElement | null },
  layout: RowLayout,
  { rows, keyOf, rowHeight, headings = noHeadings }: VirtualTableProps<Row>,
) {
  const [activeKey, setActive] = useState<string>()
  /** The key of the place that gets the focus once it is the active one: an effect of an earlier render may come before that. */
  const movingTo = useRef<string | undefined>(undefined)
  const active = activeKey === undefined ? 0 : placeOf(activeKey)

  useEffect(() => {
    if (movingTo.current === undefined || movingTo.current !== activeKey) return
    movingTo.current = undefined
    const row = body.current?.querySelector(`[aria-rowindex="${active + 2}"]`)
    row?.querySelector<HTMLElement>('td input, td a, th button')?.focus({ preventScroll: true })
  })

  /** The first one when it is gone. */
  function placeOf(key: string): number {
    const heading = headings.findIndex(one => one.key === key)
    if (heading >= 0) return layout.placeOfHeading(heading)
    const row = rows.findIndex(one => keyOf(one) === key)
    return row < 0 ? 0 : layout.placeOfRow(row)
  }

  function move(event: KeyboardEvent): void {
    const top = body.current?.getBoundingClientRect().top ?? 0
    const pageRows = Math.max(1, Math.floor(innerHeight / rowHeight) - 2)
    const target = rowAfterKey(event.key, active, layout.count, pageRows)
    if (target === undefined || target < 0 || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    showPlace(top + layout.topOf(target), layout.heightOf(target))
    const heading = headings[layout.headingAt(target) ?? -1]
    movingTo.current = heading === undefined ? keyOf(rows[layout.rowAt(target)] as Row) : heading.key
    setActive(movingTo.current)
  }

  return { active, move, setActive }
}

interface HeaderCellProps<Row> extends Pick<VirtualTableProps<Row>, 'sort' | 'onSort'> {
  column: Pick<Column<Row>, 'key' | 'label' | 'isSortable'>
}

export function HeaderCell<Row>({ column: { key, label, isSortable = false }, sort, onSort }: HeaderCellProps<Row>) {
  const isSorted = sort.key === key
  const order = sort.isDescending ? 'descending' : 'ascending'
  return (
    <th scope="col" class={key} aria-sort={isSorted ? order : undefined}>
      {isSortable ? (
        <button type="button" onClick={() => onSort(key)}>
          {label}
          <span class="arrow" aria-hidden="true">
            {isSorted ? (sort.isDescending ? '▾' : '▴') : ''}
          </span>
        </button>
      ) : (
        label
      )}
    </th>
  )
}

interface BodyRowProps {
  layout: RowLayout
  place: number
  isHeading: boolean
  isActive: boolean
  onFocus: () => void
  children: ComponentChildren
}

function BodyRow({ layout, place, isHeading, isActive, onFocus, children }: BodyRowProps) {
  const element = useRef<HTMLTableRowElement>(null)
  // A row may get another link or button at any time.
  useLayoutEffect(() => {
    for (const target of element.current?.querySelectorAll<HTMLElement>('a, button, input') ?? []) {
      target.tabIndex = isActive ? 0 : -1
    }
  })
  return (
    <tr
      ref={element}
      class={isHeading ? 'heading' : undefined}
      aria-rowindex={place + 2}
      style={{ transform: `translateY(${layout.topOf(place)}px)`, height: `${layout.heightOf(place)}px` }}
      onFocusCapture={onFocus}
    >
      {children}
    </tr>
  )
}

/** Follows the scroll, at most once a frame. */
function useWindow(body: { current: HTMLElement | null }, layout: RowLayout): Window {
  const [shown, setShown] = useState<Window>(() => windowOf(0, innerHeight, layout))
  useLayoutEffect(() => {
    let frame = 0
    const look = () => {
      frame = 0
      const top = body.current?.getBoundingClientRect().top ?? 0
      const next = windowOf(top, innerHeight, layout)
      setShown(before => (before.from === next.from && before.to === next.to ? before : next))
    }
    const lookSoon = () => {
      if (frame === 0) frame = requestAnimationFrame(look)
    }
    look()
    addEventListener('scroll', lookSoon, { passive: true })
    addEventListener('resize', lookSoon)
    return () => {
      cancelAnimationFrame(frame)
      removeEventListener('scroll', lookSoon)
      removeEventListener('resize', lookSoon)
    }
  }, [body, layout])
  // The list may have become shorter since.
  return { from: Math.min(shown.from, layout.count), to: Math.min(shown.to, layout.count) }
}

function range({ from, to }: Window): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index)
}

/** Scrolls no further than necessary below the header of the table and other sticky parts. */
function showPlace(top: number, height: number): void {
  const covered = Number.parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop)
  if (top < covered) scrollBy(0, top - covered)
  else if (top + height > innerHeight) scrollBy(0, top + height - innerHeight + 8)
}
