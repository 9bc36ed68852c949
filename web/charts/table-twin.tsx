/** The numbers of charts as tables, for those who read rather than look. Shown by a button. */

import { useState } from 'preact/hooks'
import { decimalText } from '../text/numbers.ts'
import { t, tn } from '../words/words.ts'
import type { TwinTable } from './table-rows.ts'

export interface TableTwinProps {
  /** The subject of the tables behind “Show as table”. */
  readonly name: string
  /** Called only when they are shown. */
  readonly tables: () => readonly TwinTable[]
}

export function TableTwin({ name, tables }: TableTwinProps) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <div class="twin">
      <button type="button" class="button quiet" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        {isOpen ? t('Hide table') : t('Show as table')}
        <span class="unseen">: {name}</span>
      </button>
      {isOpen ? tables().map(table => <Table key={table.caption} {...table} />) : null}
    </div>
  )
}

const rowsAtOnce = 48

function Table({ caption, headName, columns, rows }: TwinTable) {
  const [shownMax, setShownMax] = useState(rowsAtOnce)
  const rest = rows.length - shownMax
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
      <section class="twin-scroll" tabIndex={0} aria-label={caption}>
        <table>
          <caption>{caption}</caption>
          <thead>
            <tr>
              <th scope="col">{headName}</th>
              {columns.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, shownMax).map(({ key, head, cells }) => (
              <tr key={key}>
                <th scope="row">{head}</th>
                {columns.map(({ name, decimals }, place) => (
                  <td key={name}>{cellText(cells[place] ?? null, decimals)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rest > 0 ? (
        <button type="button" class="button" onClick={() => setShownMax(shownMax + 10 * rowsAtOnce)}>
          {tn(rest, 'Show more ({count} row)', 'Show more ({count} rows)')}
        </button>
      ) : null}
    </>
  )
}

/** A number is rounded for reading; `data` has all of its digits. */
function cellText(cell: number | string | null, decimals: number) {
  if (cell === null) return <span class="none">–</span>
  return typeof cell === 'string' ? cell : <data value={String(cell)}>{decimalText(cell, decimals)}</data>
}
