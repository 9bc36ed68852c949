/** Findings and anomalies of a device as sentences, each with a link to its range of the charts. */

import { useMemo, useState } from 'preact/hooks'
import type { Anomalies as Page } from '../../../query/shapes/anomalies.ts'
import type { Stats } from '../../../query/shapes/stats.ts'
import { findingWindow, rangeArguments, type TimeWindow } from '../../charts/range.ts'
import { zoomTo } from '../../charts/use-range.ts'
import { addressOf, urlArguments } from '../../client/address.ts'
import { lastValue } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { Folded } from '../../parts/folded.tsx'
import { FailureBanner, Skeleton } from '../../parts/loading.tsx'
import { SeverityBadge } from '../../parts/marks.tsx'
import {
  anomalySentence,
  findingSentence,
  pageWords,
  timesOfAnomaly,
  timesOfFinding,
} from '../../text/finding-words.ts'
import { shownZone } from '../../text/preferences.ts'
import { describedBy, type Quantities } from '../../text/quantities.ts'
import { createTimes } from '../../text/times.ts'
import { createZone, type Zone } from '../../text/zone.ts'
import type { Times } from '../../theme/times.ts'
import { t, tp } from '../../words/words.ts'
import type { Measured } from './answers.ts'

interface FindingsProps {
  readonly stats: Stats
  readonly quantities: Quantities
  /** The answer's zone. */
  readonly zone: Zone
  readonly times: Times
  /** A full minute. */
  readonly nowMs: number
}

export function Findings({ stats, quantities, zone, times, nowMs }: FindingsProps) {
  const { findings } = stats
  const words = useMemo(() => pageWords(quantities, times, nowMs), [quantities, times, nowMs])
  // A device without readings has no findings.
  if (stats.freshness.last_seen === null) return null
  if (findings.length === 0) return <p class="no-findings">{t('Nothing looks wrong.')}</p>
  return (
    <section class="findings" aria-labelledby="findings">
      <h2 id="findings">{t('Findings')}</h2>
      <ul>
        {findings.map(finding => {
          const window = findingWindow(timesOfFinding(finding, zone), nowMs)
          return (
            <li key={`${finding.code} ${finding.metric} ${finding.since}`}>
              <SeverityBadge severity={finding.severity} />
              <span>
                {findingSentence(finding, words, zone)}. <ChartLink window={window} />
              </span>
            </li>
          )
        })}
      </ul>
      <p class="note">
        <a href={addressOf('/docs/statistics#findings')}>{t('How they are found')}</a>
      </p>
    </section>
  )
}

const pageLimit = 20
const minuteMs = 60_000

interface AnomaliesProps {
  readonly of: Measured
  readonly quantities: Quantities
  /** The range and the metrics of the list. */
  readonly query: string
  /** The time in words. */
  readonly words: string
}

export function Anomalies(props: AnomaliesProps) {
  const link = <a href={addressOf('/docs/statistics#anomalies')}>{t('how they are found')}</a>
  return (
    <Folded
      id="anomalies"
      title={t('Unusual readings')}
      summary={t('Suspect readings, outages and changes of level in {words}', { words: props.words })}
    >
      {() => (
        <>
          <p class="lead">
            {props.of.kind === 'device'
              ? tp('Differences from the usual readings of this device, newest first ({link}).', { link })
              : tp('Differences from the usual readings of this station, newest first ({link}).', { link })}
          </p>
          {/* Another range or other metrics begin at the first page. */}
          <AnomaliesPage key={props.query} {...props} />
        </>
      )}
    </Folded>
  )
}

/** A page, and behind it the next one once that is asked for. */
function AnomaliesPage({ after, ...props }: AnomaliesProps & { after?: string }) {
  const { of, quantities } = props
  const [isNextShown, setIsNextShown] = useState(false)
  const fields = [`limit=${pageLimit}`, props.query, after === undefined ? '' : `after=${after}`]
  const query = fields.filter(field => field !== '').join('&')
  const state = useResource<Page>(addressOf(`/api/${of.pathOf('anomalies', query)}`))
  const page = lastValue(state)
  if (page === undefined) {
    return state.kind === 'loading' ? (
      <Skeleton name={t('The list is loading')} rows={4} />
    ) : (
      <FailureBanner state={state} timeText={createTimes('UTC').time} />
    )
  }
  if (page.anomalies_total === 0) return <p>{t('There are none.')}</p>
  return (
    <>
      <List page={page} quantities={quantities} />
      {page.next === null ? null : isNextShown ? (
        <AnomaliesPage {...props} after={page.next} />
      ) : (
        <button type="button" class="button" onClick={() => setIsNextShown(true)}>
          {t('Show more')}
        </button>
      )}
    </>
  )
}

function List({ page, quantities }: { page: Page; quantities: Quantities }) {
  const { anomalies, time_zone, metrics } = page
  const zone = createZone(time_zone)
  const nowMs = Math.floor(Date.now() / minuteMs) * minuteMs
  const words = pageWords(describedBy(quantities, metrics), createTimes(shownZone(time_zone)), nowMs)
  return (
    <ul class="anomalies">
      {anomalies.map(anomaly => (
        <li key={anomaly.id}>
          {anomalySentence(anomaly, words, zone)}.{' '}
          <ChartLink window={findingWindow(timesOfAnomaly(anomaly, zone), nowMs)} />
        </li>
      ))}
    </ul>
  )
}

function ChartLink({ window }: { window: TimeWindow }) {
  return (
    <a href={addressIn(window)} onClick={event => show(event, window)}>
      {t('In the charts')}
    </a>
  )
}

/** The page as it is, with another range. */
function addressIn(window: TimeWindow): string {
  const fields = new URLSearchParams(urlArguments.value)
  for (const [name, value] of Object.entries(rangeArguments(window))) {
    if (value === undefined) fields.delete(name)
    else fields.set(name, value)
  }
  return `?${fields}`
}

function show(event: MouseEvent, window: TimeWindow): void {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  event.preventDefault()
  zoomTo(window)
  document.getElementById('readings')?.scrollIntoView({ block: 'start' })
}
