/** The fleet's findings in one line each, worst first, with folded lists of the rest, of batteries and of outliers. */

import { useId, useState } from 'preact/hooks'
import type { Insights as InsightsAnswer } from '../../../query/shapes/insights.ts'
import { addressOf } from '../../client/address.ts'
import type { ResourceState } from '../../client/resource-state.ts'
import { devicePath } from '../../client/routes.ts'
import { useMedia } from '../../client/screen.ts'
import { SeverityBadge } from '../../parts/marks.tsx'
import {
  batterySentence,
  findingSentence,
  outlierSentence,
  outliersAbout,
  pageWords,
} from '../../text/finding-words.ts'
import { describedBy, type Quantities } from '../../text/quantities.ts'
import type { Zone } from '../../text/zone.ts'
import type { Times } from '../../theme/times.ts'
import { countText, t, tn, tp } from '../../words/words.ts'

const entriesShort = 3
/** The same width as in `fleet.css`. */
const narrow = '(max-width: 860px)'

interface Entry {
  key: string
  device: string
  sentence: string
}

export interface InsightsProps {
  state: ResourceState<InsightsAnswer>
  times: Times
  /** The service's zone. */
  zone: Zone
  quantities: Quantities
}

export function Insights({ state, times, zone, ...of }: InsightsProps) {
  const isNarrow = useMedia(narrow)
  // The box has its place before the answer, so that the list does not move.
  if (state.kind === 'loading') return <div class="card insights" />
  if (state.kind === 'failed') {
    if (state.failure.kind !== 'unavailable') return null
    return <p class="card insights">{t('Battery estimates and comparisons are not available at the moment.')}</p>
  }
  const { generated_at, findings, batteries, batteries_total, outliers, outliers_total, metrics } = state.value
  if (findings.length + batteries.length + outliers.length === 0)
    return <p class="card insights">{t('No findings.')}</p>
  const quantities = describedBy(of.quantities, metrics)
  const ending = batteries.map(one => ({
    key: `${one.metric} ${one.device}`,
    device: one.device,
    sentence: batterySentence(one, quantities),
  }))
  const unlike = outliers.map(one => ({
    key: `${one.metric} ${one.device}`,
    device: one.device,
    sentence: outlierSentence(one, quantities),
  }))
  const asOf = times.dateTime(generated_at)
  const lists = (
    <div class="lists">
      <FleetFindings answer={state.value} {...{ times, zone, quantities }} />
      <List
        title={t('Batteries running out')}
        note={t('Days until empty if the charge goes on falling as it does, with the 95 % interval.')}
        {...{ entries: ending, total: batteries_total, asOf }}
      />
      <List {...outliersAbout(outliers)} {...{ entries: unlike, total: outliers_total, asOf }} />
    </div>
  )
  if (!isNarrow) return <div class="card insights">{lists}</div>
  return (
    <details class="card insights">
      <summary>
        {findings[0] === undefined ? null : <SeverityBadge severity={findings[0].severity} />}
        {t('Findings')}{' '}
        <span class="total">{countText(state.value.findings_total || batteries_total + outliers_total)}</span>
      </summary>
      {lists}
    </details>
  )
}

interface FleetFindingsProps extends Omit<InsightsProps, 'state'> {
  answer: InsightsAnswer
}

function FleetFindings({ answer, times, zone, quantities }: FleetFindingsProps) {
  const { findings, findings_total, generated_at, gauges_left_out } = answer
  const id = useId()
  if (findings.length === 0) return null
  const words = pageWords(quantities, times, generated_at)
  const others = findings_total - findings.length
  const folded = findings_total - Math.min(findings.length, entriesShort)
  const lines = findings.map(finding => (
    <li key={`${finding.device} ${finding.code} ${finding.metric} ${finding.since}`}>
      <SeverityBadge severity={finding.severity} />
      <span>
        <a href={addressOf(devicePath(finding.device))}>{finding.device}</a> {findingSentence(finding, words, zone)}
      </span>
    </li>
  ))
  return (
    <section class="lines" aria-labelledby={id}>
      <h2 id={id} class="unseen">
        {t('Findings')}
      </h2>
      <ul>{lines.slice(0, entriesShort)}</ul>
      <details>
        <summary>
          {folded > 0 ? tn(folded, '{count} more finding', '{count} more findings') : t('About findings')}
        </summary>
        <ul>{lines.slice(entriesShort)}</ul>
        <p class="note">
          {others > 0 ? `${t('And {count} more.', { count: countText(others) })} ` : ''}
          {gauges_left_out > 0
            ? `${tn(gauges_left_out, 'Not of {count} more gauge: they are too many.', 'Not of {count} more gauges: they are too many.')} `
            : ''}
          <a href={addressOf('/docs/statistics#findings')}>{t('How they are found')}</a>
        </p>
      </details>
    </section>
  )
}

interface ListProps {
  title: string
  note: string
  entries: readonly Entry[]
  /** The service sends only the first of these. */
  total: number
  asOf: string
}

function List({ title, note, entries, total, asOf }: ListProps) {
  const id = useId()
  const [isWhole, setIsWhole] = useState(false)
  if (entries.length === 0) return null
  const shown = isWhole ? entries : entries.slice(0, entriesShort)
  const unsent = total - entries.length
  return (
    <section aria-labelledby={id}>
      <details>
        <summary>
          <h2 id={id}>
            {title} <span class="total">{countText(total)}</span>
          </h2>
        </summary>
        <p>
          {tp('{note} As of {asOf}. {link}', {
            note,
            asOf,
            link: <a href={addressOf('/docs/statistics#fleet')}>{t('How it is computed')}</a>,
          })}
        </p>
        <ul>
          {shown.map(({ key, device, sentence }) => (
            <li key={key}>
              <a href={addressOf(devicePath(device))}>{device}</a> <span>{sentence}</span>
            </li>
          ))}
        </ul>
        {isWhole && unsent > 0 ? <p>{t('And {count} more.', { count: countText(unsent) })}</p> : null}
        {entries.length > entriesShort ? (
          <button type="button" class="button" aria-expanded={isWhole} onClick={() => setIsWhole(!isWhole)}>
            {isWhole
              ? t('Show the first {count}', { count: entriesShort })
              : unsent > 0
                ? t('Show the first {count}', { count: countText(entries.length) })
                : t('Show all {count}', { count: countText(entries.length) })}
          </button>
        ) : null}
      </details>
    </section>
  )
}
