/** Completeness of 30 days as a calendar with a summary. */

import type { Stats } from '../../../query/shapes/stats.ts'
import type { TwinTable } from '../../charts/table-rows.ts'
import { TableTwin } from '../../charts/table-twin.tsx'
import { addressOf } from '../../client/address.ts'
import { Folded } from '../../parts/folded.tsx'
import { percent } from '../../text/phrases.ts'
import { locales } from '../../theme/times.ts'
import { t, words } from '../../words/words.ts'
import { calendarWeeks, reliabilitySentences } from './reliability.ts'

const weekdays = [t('Mon'), t('Tue'), t('Wed'), t('Thu'), t('Fri'), t('Sat'), t('Sun')]
const nameOfState = { ok: t('complete'), partial: t('partial'), missing: t('nothing') }

export function Completeness({ stats }: { stats: Stats }) {
  const [pace = '', ...sentences] = reliabilitySentences(stats.freshness, stats.reliability.windows['30d'])
  return (
    <Folded id="completeness" title={t('Completeness')} summary={[pace, sentences[0]].join(' ').trim()}>
      {() => <CompletenessOfDays days={stats.reliability.days} sentences={sentences.slice(1)} />}
    </Folded>
  )
}

interface CompletenessOfDaysProps {
  readonly days: Stats['reliability']['days']
  readonly sentences: readonly string[]
}

function CompletenessOfDays({ days, sentences }: CompletenessOfDaysProps) {
  return (
    <>
      <p class="lead">
        {sentences.join(' ')} <a href={addressOf('/docs/statistics#reliability')}>{t('How it is computed')}</a>
      </p>
      <div class="calendar" aria-hidden="true">
        {weekdays.map(name => (
          <span key={name} class="weekday">
            {name}
          </span>
        ))}
        {calendarWeeks(days).flatMap((week, row) =>
          week.map((day, column) => <Day key={`${row} ${column}`} day={day} />),
        )}
      </div>
      <TableTwin name={t('completeness of 30 days')} tables={() => [completenessTable(days)]} />
    </>
  )
}

function completenessTable(days: Stats['reliability']['days']): TwinTable {
  return {
    caption: t('Readings that came, of those expected'),
    headName: t('Day'),
    columns: [
      { name: t('Share'), decimals: 3 },
      { name: t('State'), decimals: 0 },
    ],
    rows: days
      .map(({ date, completeness, state }) => ({
        key: date,
        head: date,
        cells: [completeness, state === null ? t('before the oldest reading') : nameOfState[state]],
      }))
      .reverse(),
  }
}

/** The bar is as wide as the day is complete. An irregular device has no share, only a state. */
function Day({ day }: { day: Stats['reliability']['days'][number] | undefined }) {
  if (day === undefined) return <span />
  const { date, completeness, state } = day
  const share = completeness ?? (state === 'ok' ? 1 : state === 'partial' ? 0.5 : 0)
  const number = Number(date.slice(8))
  const title = `${date}: ${state === null ? t('before the oldest reading') : completeness === null ? nameOfState[state] : percent(completeness)}`
  return (
    <span class={`day ${state ?? 'before'}`} title={title}>
      {number === 1 ? `1 ${monthOf(date)}` : number}
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class="whole" width="100" height="6" />
        <rect class="part" width={100 * share} height="6" />
      </svg>
    </span>
  )
}

function monthOf(date: string): string {
  return new Intl.DateTimeFormat(locales[words.language], {
    month: 'short',
    timeZone: 'UTC',
  }).format(Date.parse(date))
}
