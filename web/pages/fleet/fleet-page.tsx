/** All devices, worst first, with their states, last values and last 24 hours. */

import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Fleet as FleetAnswer, FleetDevice } from '../../../query/live/fleet-shape.ts'
import type { Insights as InsightsAnswer } from '../../../query/shapes/insights.ts'
import { addressOf, setArguments, urlArguments } from '../../client/address.ts'
import { hasToken } from '../../client/request-token.ts'
import { noticeOf } from '../../client/resource-state.ts'
import { useMedia } from '../../client/screen.ts'
import { isSignedIn } from '../../client/session.ts'
import { showSilent, useTitle, useTitleNotice } from '../../client/tab.ts'
import { useResource } from '../../client/use-resource.ts'
import { Banner, FailureBanner, lazy, Skeleton } from '../../parts/loading.tsx'
import type { SelectionBarProps } from '../../parts/selection-bar.tsx'
import { useSelection } from '../../parts/use-selection.ts'
import { shownZone } from '../../text/preferences.ts'
import { type Descriptions, type Quantities, quantitiesOf, withNumbered } from '../../text/quantities.ts'
import { createTimes } from '../../text/times.ts'
import { createZone } from '../../text/zone.ts'
import type { Times } from '../../theme/times.ts'
import { columnsOfFleet, type FleetColumns, tableWidthMin } from './fleet-columns.ts'
import { numberedStates, totalOf } from './fleet-devices.ts'
import { groupKeys } from './fleet-groups.ts'
import { type Fleet, openFleet } from './fleet-list.ts'
import {
  type FleetView,
  mapArguments,
  matchPath,
  readTags,
  readView,
  shownDevices,
  viewArguments,
} from './fleet-view.ts'
import { GroupedTable } from './grouped-table.tsx'
import { Insights } from './insights.tsx'
import { ChangesNotice, EmptyFleet, FirstRules } from './notices.tsx'
import { ChosenTags, GroupFilter, SelectButton, ShowFilter, StateFilter, TagFilter, Toolbar } from './toolbar.tsx'
import './fleet.css'
import './fleet-table.css'
import './narrow-rows.css'
import { countText, t, tn } from '../../words/words.ts'

const SelectionBar = lazy<SelectionBarProps>(t('selection'), () =>
  import('../../parts/selection-bar.tsx').then(module => module.SelectionBar),
)
const FleetMap = lazy(t('map'), () => import('../../map/fleet-map.tsx').then(module => module.FleetMap))
/** The service computes them at this interval. */
const insightsEveryMs = 600_000

export function FleetPage() {
  const [fleet, setFleet] = useState<Fleet>()
  const found = readTags(urlArguments.value)
  const tags = useMemo(() => found, [JSON.stringify(found)])
  useEffect(() => {
    const opened = openFleet(tags)
    setFleet(before => before ?? opened)
    // The list of before stays until there is another one.
    const stop = opened.first.subscribe(({ kind }) => {
      if (kind !== 'loading') setFleet(opened)
    })
    return () => {
      stop()
      opened.close()
    }
  }, [tags])
  return (
    <>
      <h1 class="unseen">{t('Fleet')}</h1>
      {fleet === undefined ? <Skeleton name={t('The fleet is loading')} rows={10} /> : <FleetBody fleet={fleet} />}
    </>
  )
}

function FleetBody({ fleet }: { fleet: Fleet }) {
  const insights = useResource<InsightsAnswer>(addressOf('/api/fleet/insights'), { everyMs: insightsEveryMs })
  const state = fleet.first.value
  const counts = fleet.counts.value
  const silent = counts?.silent ?? 0
  const answer = state.kind === 'ready' || state.kind === 'stale' ? state.value : undefined
  const times = createTimes(shownZone(answer?.time_zone ?? 'UTC'))
  const zone = createZone(answer?.time_zone ?? 'UTC')
  useTitle(t('Fleet'))
  useTitleNotice(titleNotice(state, silent))
  useEffect(() => showSilent(state.kind === 'ready' ? silent : undefined), [state.kind, silent])
  useEffect(() => () => showSilent(0), [])
  return (
    <>
      <FailureBanner state={state} timeText={times.time} />
      {state.kind === 'loading' ? <Skeleton name={t('The fleet is loading')} rows={10} /> : null}
      {answer === undefined || counts === undefined ? null : isEmpty(fleet) ? (
        <EmptyFleet />
      ) : (
        <div class={state.kind === 'stale' ? 'stale' : undefined}>
          <Notices answer={answer} />
          <FirstRules />
          <Devices
            fleet={fleet}
            times={times}
            beside={quantities => <Insights state={insights} {...{ times, zone, quantities }} />}
          />
        </div>
      )}
    </>
  )
}

function Notices({ answer }: { answer: FleetAnswer }) {
  return (
    <>
      {answer.missing === undefined ? null : (
        <Banner kind="warn">{t('Stored readings cannot be read. {missing}', { missing: answer.missing })}</Banner>
      )}
      {answer.catching_up === true ? (
        <Banner kind="warn">{t('The service has just started: the last readings may be missing still.')}</Banner>
      ) : null}
    </>
  )
}

/** No device can be found, whatever the tags are. */
function isEmpty({ counts, tags }: Fleet): boolean {
  return counts.value !== undefined && totalOf(counts.value) === 0 && tags.length === 0
}

/** A notice in the title for readers of another tab. */
function titleNotice(state: Fleet['first']['value'], silent: number): string {
  return noticeOf(state) || (silent === 0 ? '' : t('{count} silent', { count: countText(silent) }))
}

interface DevicesProps {
  fleet: Fleet
  times: Times
  /** Rendered beside the states, for the whole fleet. */
  beside(quantities: Quantities): ComponentChildren
}

function Devices({ fleet, times, beside }: DevicesProps) {
  const address = urlArguments.value
  const view = useMemo(() => readView(address), [address])
  const devices = fleet.devices.value
  const rows = useMemo(() => shownDevices(devices, view), [devices, view])
  const metrics = fleet.metrics.value
  const quantities = useQuantities(devices, metrics)
  const columns = useColumns(devices)
  // A link to a list does not reveal the places of the devices.
  const [hasMap] = useState(() => view.isMap || !hasToken())
  const match = matchPath(view, fleet.tags)
  const { selection, select } = useSelection(match)
  const isNarrow = useMedia(`(max-width: ${tableWidthMin(columns, selection !== undefined) - 1}px)`)
  const counts = fleet.counts.value
  const change = (changes: Partial<FleetView>, options = {}) => setArguments(viewArguments(changes, view), options)
  if (counts === undefined) return null
  const isOfAll = fleet.tags.length === 0
  const maySelect = isSignedIn.value && !view.isMap
  return (
    <>
      {isOfAll ? <ChangesNotice fleet={fleet} times={times} /> : null}
      <div class="overview">
        <StateFilter counts={counts} chosen={view.states} onChange={states => change({ states })} />
        {isOfAll ? beside(quantities) : null}
      </div>
      <Toolbar
        {...{ view, columns, quantities }}
        custom={byTitle(metrics)}
        hasOrder={columns.customMax > 0 || isNarrow}
        onChange={change}
      >
        <TagFilter devices={devices} chosen={fleet.tags} onChange={tag => setArguments({ tag })} />
        {view.isMap ? null : (
          <GroupFilter
            keys={groupKeys(devices, view.group)}
            chosen={view.group}
            onChange={group => change({ group })}
          />
        )}
        {hasMap ? <ShowFilter isMap={view.isMap} onChange={isMap => change({ isMap })} /> : null}
        <p>
          <span role="status">{summaryOf(rows.length, totalOf(counts), fleet)}</span> {currencyOf(fleet)}{' '}
          {t('Times: {zone}.', { zone: times.zone })}
        </p>
        {maySelect ? <SelectButton isOn={selection !== undefined} onBegin={() => select(new Set())} /> : null}
      </Toolbar>
      <ChosenTags chosen={fleet.tags} onChange={tag => setArguments({ tag })} />
      {maySelect && selection !== undefined ? (
        <SelectionBar {...{ match, names: selection.names }} onSelect={select} onChanged={fleet.refresh} />
      ) : null}
      {view.isMap ? (
        <FleetMap filter={mapArguments(view, fleet.tags)} changes={JSON.stringify(counts)} />
      ) : rows.length === 0 ? (
        <p class="none">{t('No device matches your search.')}</p>
      ) : (
        <GroupedTable
          {...{ fleet, rows, view, columns, isNarrow, quantities, times, selection }}
          onSort={(sort, isDescending) => change({ sort, isDescending })}
        />
      )}
    </>
  )
}

/** The same object while they are the same, as values come each second. */
function useQuantities(devices: readonly FleetDevice[], metrics: Descriptions): Quantities {
  const numbered = useMemo(() => numberedStates(devices, metrics), [devices, metrics])
  return useMemo(() => withNumbered(quantitiesOf(metrics), numbered), [metrics, numbered.join()])
}

function useColumns(devices: readonly FleetDevice[]): FleetColumns {
  const found = useMemo(() => columnsOfFleet(devices), [devices])
  return useMemo(() => found, [JSON.stringify(found)])
}

function byTitle(metrics: Descriptions): string[] {
  const names = Object.keys(metrics)
  return names.sort((a, b) => (metrics[a]?.title ?? a).localeCompare(metrics[b]?.title ?? b))
}

function summaryOf(shown: number, total: number, { devices, isComplete }: Fleet): string {
  if (!isComplete.value)
    return tn(total, '{shown} of {count} device loaded.', '{shown} of {count} devices loaded.', {
      shown: countText(devices.value.length),
    })
  return shown === total
    ? tn(total, '{count} device.', '{count} devices.')
    : tn(total, '{shown} of {count} device.', '{shown} of {count} devices.', { shown: countText(shown) })
}

/** The age of the list. Events may arrive while the service cannot read. */
function currencyOf({ first, isLive }: Fleet): string {
  if (first.value.kind !== 'ready') return t('Not current.')
  return isLive.value ? t('Live.') : t('Read again every 10 s.')
}
