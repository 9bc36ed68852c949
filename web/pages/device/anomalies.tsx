/** Anomalies, newest first, read page by page once the section is opened. */

import { useMemo, useState } from 'preact/hooks'
import type { Anomalies as Page } from '../../../query/shapes/anomalies.ts'
import { addressOf } from '../../client/address.ts'
import { lastValue } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { FailureBanner } from '../../parts/failure-banner.tsx'
import { Folded } from '../../parts/folded.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { anomalySentence, pageWords, timesOfAnomaly } from '../../text/finding-words.ts'
import { shownZone } from '../../text/preferences.ts'
import { describedBy, type Quantities } from '../../text/quantities.ts'
import { createZone } from '../../text/zone.ts'
import { createTimes } from '../../theme/times.ts'
import { ChartLink } from './chart-link.tsx'
import { findingWindow } from './finding-window.ts'
import type { Measured } from './measured.ts'

const pageLimit = 20
const minuteMs = 60_000

export interface AnomaliesProps {
  readonly of: Measured
  readonly quantities: Quantities
  /** The range and the metrics of the list. */
  readonly query: string
  /** The time in words. */
  readonly words: string
}

export function Anomalies(props: AnomaliesProps) {
  return (
    <Folded
      id="anomalies"
      title="Unusual readings"
      summary={`Suspect readings, outages and changes of level in ${props.words}`}
    >
      {() => (
        <>
          <p class="lead">
            Differences from the usual readings of this {props.of.kind}, newest first (
            <a href={addressOf('/docs/statistics#anomalies')}>how they are found</a>).
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
      <Skeleton name="The list is loading" rows={4} />
    ) : (
      <FailureBanner state={state} timeText={createTimes('UTC').time} />
    )
  }
  if (page.anomalies_total === 0) return <p>There are none.</p>
  return (
    <>
      <List page={page} quantities={quantities} />
      {page.next === null ? null : isNextShown ? (
        <AnomaliesPage {...props} after={page.next} />
      ) : (
        <button type="button" class="button" onClick={() => setIsNextShown(true)}>
          Show more
        </button>
      )}
    </>
  )
}

function List({ page, quantities }: { page: Page; quantities: Quantities }) {
  const { anomalies, time_zone, metrics } = page
  const zone = useMemo(() => createZone(time_zone), [time_zone])
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
