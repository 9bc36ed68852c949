/**
 * A table of any length that scrolls with the page: only the rows on the screen are in the document. Screen readers are told
 * the true number of rows. One row is in the order of Tab; the arrow keys, Page Up and Down, Home and End move to others.
 */

import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { rowAfterKey, type Window, windowOf } from './virtual-rows.ts'

export interface Column<Row> {
  /** Also the class of its cells. */
  key: string
  label: string
  /** A track of the grid, as `96px` or `minmax(160px, 1fr)`. */
  width: string
  /** Whether the table can be ordered by it. */
  isSortable?: boolean
  cell: (row: Row) => ComponentChildren
}

export interface VirtualTableProps<Row> {
  /** For screen readers. */
  name: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  /** Where the row leads; its first link gets the focus. */
  rowHeight: number
  /** Rows are no rows of columns, but stand as the style sheet says. */
  isNarrow: boolean
  sort: { key: string; isDescending: boolean }
  onSort: (key: string) => void
  /** Is told the rows that are in the document whenever these change. */
  onShown?: (rows: readonly Row[]) => void
}

export function VirtualTable<Row>({
  name,
  columns,
  rows,
  keyOf,
  rowHeight,
  isNarrow,
  sort,
  onSort,
  onShown,
}: VirtualTableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null)
  const shown = useWindow(body, rows.length, rowHeight)
  const [activeKey, setActiveKey] = useState<string>()
  /** The key of the row that gets the focus once it is the active one: an effect of an earlier render may come before that. */
  const movingTo = useRef<string | undefined>(undefined)
  const found = activeKey === undefined ? -1 : rows.findIndex(row => keyOf(row) === activeKey)
  const active = Math.max(0, found)

  useEffect(() => {
    if (movingTo.current === undefined || movingTo.current !== activeKey) return
    movingTo.current = undefined
    body.current?.querySelector<HTMLElement>(`[aria-rowindex="${active + 2}"] a`)?.focus({ preventScroll: true })
  })

  useEffect(() => onShown?.(rows.slice(shown.from, shown.to)), [rows, shown.from, shown.to, onShown])

  function move(event: KeyboardEvent): void {
    const top = body.current?.getBoundingClientRect().top ?? 0
    const pageRows = Math.max(1, Math.floor(innerHeight / rowHeight) - 2)
    const target = rowAfterKey(event.key, active, rows.length, pageRows)
    const row = rows[target ?? -1]
    if (target === undefined || row === undefined || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    showRow(top + target * rowHeight, rowHeight)
    movingTo.current = keyOf(row)
    setActiveKey(keyOf(row))
  }

  // The active row stays in the document, so that a scroll does not take the focus away.
  const indexes = range(shown)
  if (rows.length > 0 && (active < shown.from || active >= shown.to)) indexes.push(active)
  return (
    <table
      class={isNarrow ? 'virtual narrow' : 'virtual'}
      aria-label={name}
      aria-rowcount={rows.length + 1}
      style={{ '--columns': columns.map(({ width }) => width).join(' ') }}
    >
      <thead>
        <tr aria-rowindex={1}>
          {columns.map(column => (
            <HeaderCell key={column.key} column={column} sort={sort} onSort={onSort} />
          ))}
        </tr>
      </thead>
      <tbody ref={body} style={{ height: `${rows.length * rowHeight}px` }} onKeyDown={move}>
        {indexes.map(index => (
          <BodyRow
            key={keyOf(rows[index] as Row)}
            {...{ columns, index, rowHeight, row: rows[index] as Row }}
            isActive={index === active}
            onFocus={() => setActiveKey(keyOf(rows[index] as Row))}
          />
        ))}
      </tbody>
    </table>
  )
}

interface HeaderCellProps<Row> extends Pick<VirtualTableProps<Row>, 'sort' | 'onSort'> {
  column: Column<Row>
}

function HeaderCell<Row>({ column: { key, label, isSortable = false }, sort, onSort }: HeaderCellProps<Row>) {
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

interface BodyRowProps<Row> {
  columns: readonly Column<Row>[]
  row: Row
  index: number
  rowHeight: number
  isActive: boolean
  onFocus: () => void
}

function BodyRow<Row>({ columns, row, index, rowHeight, isActive, onFocus }: BodyRowProps<Row>) {
  const element = useRef<HTMLTableRowElement>(null)
  useLayoutEffect(() => {
    for (const link of element.current?.querySelectorAll('a') ?? []) link.tabIndex = isActive ? 0 : -1
  }, [isActive])
  return (
    <tr
      ref={element}
      aria-rowindex={index + 2}
      style={{ transform: `translateY(${index * rowHeight}px)`, height: `${rowHeight}px` }}
      onFocusCapture={onFocus}
    >
      {columns.map(({ key, cell }) => (
        <td key={key} class={key}>
          {cell(row)}
        </td>
      ))}
    </tr>
  )
}

/** Follows the scroll, at most once a frame. */
function useWindow(body: { current: HTMLElement | null }, rows: number, rowHeight: number): Window {
  const [shown, setShown] = useState<Window>(() => windowOf(0, innerHeight, rowHeight, rows))
  useLayoutEffect(() => {
    let frame = 0
    const look = () => {
      frame = 0
      const top = body.current?.getBoundingClientRect().top ?? 0
      const next = windowOf(top, innerHeight, rowHeight, rows)
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
  }, [body, rows, rowHeight])
  // The list may have become shorter since.
  return { from: Math.min(shown.from, rows), to: Math.min(shown.to, rows) }
}

function range({ from, to }: Window): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index)
}

/** Scrolls no further than it takes; the header of the table covers the upper edge. */
function showRow(top: number, rowHeight: number): void {
  const header = 56
  if (top < header) scrollBy(0, top - header)
  else if (top + rowHeight > innerHeight) scrollBy(0, top + rowHeight - innerHeight + 8)
}
