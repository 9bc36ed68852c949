/** The devices as a table, in which each leads to its page. */

import { useMemo } from 'preact/hooks'
import type { FleetDevice } from '../../../live/fleet-shape.ts'
import { addressOf } from '../../client/address.ts'
import { serverNowMs } from '../../client/clock.ts'
import { devicePath } from '../../client/routes.ts'
import { useMedia } from '../../client/use-media.ts'
import { HourStrip } from '../../parts/hour-strip.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { type Column, VirtualTable } from '../../parts/virtual-table.tsx'
import { hasFullHour, noFullHour } from '../../text/hours.ts'
import { noValue } from '../../text/numbers.ts'
import { type AirMetric, builtInQuantities, valueText } from '../../text/quantities.ts'
import { ageText, type Times } from '../../text/times.ts'
import type { FleetView, SortKey } from './fleet-view.ts'

/** As in `fleet.css`, where a row has three lines on a narrow screen. */
const narrow = '(max-width: 860px)'
const rowHeights = { wide: 52, narrow: 92 }

function columnsOf(times: Times): Column<FleetDevice>[] {
  return [
    { key: 'state', label: 'State', isSortable: true, cell: ({ state }) => <StateBadge state={state} /> },
    { key: 'device', label: 'Device', isSortable: true, cell: device => <Name {...device} /> },
    {
      key: 'age',
      label: 'Last reading',
      isSortable: true,
      cell: ({ last_seen }) => <Age lastSeen={last_seen} times={times} />,
    },
    metricColumn('temperature', 'Temperature'),
    metricColumn('humidity', 'Humidity'),
    metricColumn('pressure', 'Pressure'),
    { key: 'battery', label: 'Battery', isSortable: true, cell: ({ values }) => <Battery {...values} /> },
    { key: 'hours', label: 'Last 24 hours', cell: device => <Hours {...device} /> },
  ]
}

function metricColumn(key: AirMetric, label: string): Column<FleetDevice> {
  return { key, label, isSortable: true, cell: ({ values }) => <Value name={key} value={values[key]} /> }
}

/** In percent where the device says so, else in volts. */
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

function Hours({ hours, last_seen }: FleetDevice) {
  if (hasFullHour(hours)) return <HourStrip hours={hours} />
  if (last_seen === null) return <span class="no-value">{noValue}</span>
  return <span class="no-hours">{noFullHour}</span>
}

function Name({ device, location_short }: FleetDevice) {
  return (
    <>
      <a href={addressOf(devicePath(device))}>{device}</a>
      {location_short === '' ? null : <span class="place">{location_short}</span>}
    </>
  )
}

/** Ticks by itself, so that the rows need not be made again each second. */
function Age({ lastSeen, times }: { lastSeen: number | null; times: Times }) {
  if (lastSeen === null) return <>no reading yet</>
  return (
    <time dateTime={new Date(lastSeen).toISOString()} title={times.exact(lastSeen)}>
      {ageText(serverNowMs.value - lastSeen)}
    </time>
  )
}

export interface FleetTableProps {
  rows: readonly FleetDevice[]
  view: FleetView
  times: Times
  onSort: (sort: SortKey, isDescending: boolean) => void
}

export function FleetTable({ rows, view: { sort, isDescending }, times, onSort }: FleetTableProps) {
  const columns = useMemo(() => columnsOf(times), [times])
  const rowHeight = useMedia(narrow) ? rowHeights.narrow : rowHeights.wide
  return (
    <VirtualTable
      name="Devices"
      {...{ columns, rows, rowHeight }}
      keyOf={({ device }) => device}
      sort={{ key: sort, isDescending }}
      onSort={key => onSort(key as SortKey, key === sort && !isDescending)}
    />
  )
}
