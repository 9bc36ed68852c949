/** The devices as a table, in which each leads to its page. */

import { useCallback, useMemo, useState } from 'preact/hooks'
import type { FleetDevice } from '../../../query/live/fleet-shape.ts'
import { addressOf } from '../../client/address.ts'
import { serverNowMs } from '../../client/clock.ts'
import { devicePath } from '../../client/routes.ts'
import { useMedia } from '../../client/screen.ts'
import { DirectionArrow, FiringMark, StateBadge, TagList } from '../../parts/marks.tsx'
import { Moment } from '../../parts/moment.tsx'
import { selectionMax } from '../../parts/selection.ts'
import type { Selection } from '../../parts/use-selection.ts'
import { type Column, type RowHeading, VirtualTable } from '../../parts/virtual-table.tsx'
import { kindText } from '../../text/kind-words.ts'
import {
  type AirMetric,
  builtInQuantities,
  isBuiltIn,
  type Quantities,
  type Quantity,
  valueText,
} from '../../text/quantities.ts'
import { ageText } from '../../text/times.ts'
import type { Times } from '../../theme/times.ts'
import { t } from '../../words/words.ts'
import { columnWidths, deviceColumn, type FleetColumns } from './fleet-columns.ts'
import { trendsPath } from './fleet-devices.ts'
import type { FleetView, SortKey } from './fleet-view.ts'
import { Hours, type Trends, useTrends, ValueTrend } from './trend-cells.tsx'

/** The heights follow `narrow-rows.css`: four lines on a narrow screen, and one more for tags and for values without a column. */
const rowHeights = { wide: 44, narrow: 116 }
/** The height of a group's heading. */
const headingHeight = 48
const lineHeights = { custom: 17, tags: 24 }
const lineGap = 5
/** The maximum of lines for values without a column. */
const customLines = { narrow: 1, phone: 3 }
const phone = '(max-width: 600px)'

interface ColumnsProps {
  columns: FleetColumns
  isNarrow: boolean
  quantities: Quantities
  times: Times
  trends: Trends
  /** Undefined: nothing is being selected. */
  selection: Selection | undefined
}

function columnsOf({
  columns: { values, customMax, hasTags },
  isNarrow,
  quantities,
  times,
  trends,
  selection,
}: ColumnsProps): Column<FleetDevice>[] {
  const custom: Column<FleetDevice> = {
    key: 'custom',
    label: values.length === 0 ? t('Values') : t('Other values'),
    width: `minmax(${columnWidths.custom}px, 2fr)`,
    cell: ({ values }) => <CustomList values={values} quantities={quantities} />,
  }
  const tags: Column<FleetDevice> = {
    key: 'tags',
    label: t('Tags'),
    width: '1fr',
    cell: ({ tags }) => (tags === undefined ? null : <TagList tags={tags} />),
  }
  return [
    ...(selection === undefined ? [] : [selectColumn(selection)]),
    {
      key: 'state',
      label: t('State'),
      width: `${columnWidths.state}px`,
      isSortable: true,
      cell: ({ state }) => <StateBadge state={state} />,
    },
    {
      key: 'device',
      label: t('Device'),
      width: `minmax(${columnWidths[deviceColumn(hasTags, selection !== undefined)]}px, 1fr)`,
      isSortable: true,
      cell: device => <Name {...device} hasTags={!isNarrow} />,
    },
    ...(hasTags && isNarrow ? [tags] : []),
    {
      key: 'age',
      label: t('Last reading'),
      width: `${columnWidths.age}px`,
      isSortable: true,
      cell: ({ last_seen }) => <Age lastSeen={last_seen} times={times} />,
    },
    ...values.map(key => (key === 'battery' ? batteryColumn : metricColumn(key, trends))),
    ...(customMax > 0 ? [custom] : []),
    {
      key: 'hours',
      label: t('Last 24 hours'),
      width: `${columnWidths.hours}px`,
      cell: device => <Hours {...device} trends={trends} />,
    },
  ]
}

function selectColumn({ names, toggle }: Selection): Column<FleetDevice> {
  return {
    key: 'select',
    label: t('Select'),
    width: `${columnWidths.select}px`,
    cell: ({ device }) => (
      <input
        type="checkbox"
        aria-label={t('Select {device}', { device })}
        checked={names.has(device)}
        disabled={names.size >= selectionMax && !names.has(device)}
        onChange={() => toggle(device)}
      />
    ),
  }
}

function metricColumn(key: AirMetric, trends: Trends): Column<FleetDevice> {
  const label = builtInQuantities.of(key).name
  return {
    key,
    label,
    width: `${columnWidths[key]}px`,
    isSortable: true,
    cell: ({ device, values }) => (
      <>
        {values[key] === undefined ? null : <ValueTrend metric={key} {...{ device, trends }} />}
        <Value name={key} value={values[key]} />
      </>
    ),
  }
}

const batteryColumn: Column<FleetDevice> = {
  key: 'battery',
  label: t('Battery'),
  width: `${columnWidths.battery}px`,
  isSortable: true,
  cell: ({ values }) => <Battery {...values} />,
}

/** Percent where the device sends it, else volts. */
function Battery({ battery_percentage, battery_voltage }: FleetDevice['values']) {
  return battery_percentage === undefined ? (
    <Value name="battery_voltage" value={battery_voltage} />
  ) : (
    <Value name="battery_percentage" value={battery_percentage} />
  )
}

function Value({ name, value }: { name: string; value: number | undefined }) {
  return (
    <span class={value === undefined ? 'no-value' : undefined}>{valueText(value, builtInQuantities.of(name))}</span>
  )
}

/** A table has tags below the names, since a column of them is as wide as two of values. */
function Name({ device, location_short, tags, hasTags }: FleetDevice & { hasTags: boolean }) {
  return (
    <>
      <a href={addressOf(devicePath(device))}>{device}</a>
      <FiringMark device={device} />
      {location_short === '' ? null : <span class="place">{location_short}</span>}
      {tags === undefined || !hasTags ? null : <TagList tags={tags} />}
    </>
  )
}

/** Ticks by itself, so that the rows need not be made again each second. */
function Age({ lastSeen, times }: { lastSeen: number | null; times: Times }) {
  if (lastSeen === null) return <>{t('no reading yet')}</>
  return (
    <Moment at={lastSeen} times={times}>
      {ageText(serverNowMs.value - lastSeen)}
    </Moment>
  )
}

export interface FleetTableProps extends Omit<ColumnsProps, 'trends'> {
  rows: readonly FleetDevice[]
  headings?: readonly RowHeading[]
  view: FleetView
  onSort: (sort: SortKey, isDescending: boolean) => void
}

export function FleetTable({
  rows,
  headings = [],
  view: { sort, isDescending },
  isNarrow,
  onSort,
  columns,
  quantities,
  times,
  selection,
}: FleetTableProps) {
  const [path, setPath] = useState<string>()
  const trends = useTrends(path)
  const given = { columns, isNarrow, quantities, times, trends, selection }
  const shown = useMemo(() => columnsOf(given), Object.values(given))
  const onShown = useCallback((inView: readonly FleetDevice[]) => setPath(trendsPath(inView)), [])
  const lines = Math.min(columns.customMax, customLines[useMedia(phone) ? 'phone' : 'narrow'])
  const ofCustom = lines === 0 ? 0 : lines * lineHeights.custom + lineGap
  const ofTags = columns.hasTags ? lineHeights.tags : 0
  return (
    <VirtualTable
      name={t('Devices')}
      {...{ columns: shown, rows, headings, headingHeight, isNarrow, onShown }}
      rowHeight={isNarrow ? rowHeights.narrow + ofCustom + ofTags : rowHeights.wide}
      keyOf={({ device }) => device}
      sort={{ key: sort, isDescending }}
      onSort={key => onSort(key as SortKey, key === sort && !isDescending)}
    />
  )
}

function CustomList({ values, quantities }: { values: FleetDevice['values']; quantities: Quantities }) {
  const custom = Object.entries(values).filter(([name]) => !isBuiltIn(name))
  if (custom.length === 0) return null
  return (
    <ul>
      {custom.map(([name, value]) => (
        <CustomValue key={name} quantity={quantities.of(name)} value={value as number} />
      ))}
    </ul>
  )
}

function CustomValue({ quantity, value }: { quantity: Quantity; value: number }) {
  return (
    <li>
      <span class="title">{quantity.name}</span>{' '}
      {quantity.kind === 'direction' ? <DirectionArrow degrees={value} /> : null} {kindText(value, quantity)}
    </li>
  )
}
