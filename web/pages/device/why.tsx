/** Facts that may explain a device's silence: last contact, rejected readings, failed sign-ins, battery, neighbours. */

import type { ComponentChildren } from 'preact'
import type { Attempt, DeviceContact } from '../../../api/read/shapes.ts'
import { addressOf } from '../../client/address.ts'
import { serverNowMs } from '../../client/clock.ts'
import { lastValue } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { Moment } from '../../parts/moment.tsx'
import { Facts } from '../../parts/record.tsx'
import { timesText } from '../../text/phrases.ts'
import { type Quantities, valueText } from '../../text/quantities.ts'
import { ageText } from '../../text/times.ts'
import { wayNames } from '../../text/ways-in.ts'
import type { Times } from '../../theme/times.ts'
import { countText, t } from '../../words/words.ts'
import type { LastValues } from './answers.ts'

const everyMinute = { everyMs: 60_000 }
const signalMetrics = ['rssi', 'snr']

export interface WhyProps {
  readonly device: string
  readonly values: LastValues
  readonly quantities: Quantities
  readonly times: Times
}

/** A failure of the read is not shown: the last values alone explain some silences. */
export function Why({ device, values, quantities, times }: WhyProps) {
  const path = addressOf(`/api/device/${encodeURIComponent(device)}/contact`)
  const contact = lastValue(useResource<DeviceContact>(path, everyMinute))
  const { attempts, neighbours } = contact ?? {}
  const metrics = Object.keys(values)
  const lastOf = (names: readonly string[]) =>
    names.map(name => valueText(values[name]?.v, quantities.of(name))).join(' · ')
  return (
    <section class="card why" aria-labelledby="why">
      <h2 id="why">{t('Why?')}</h2>
      <dl class="figures">
        <Row name={t('Last contact')}>
          <LastContact {...{ values, attempts, times }} />
        </Row>
        {attempts ? (
          <>
            <Attempts name={t('Rejected readings')} list={attempts.rejected} since={attempts.since} times={times} />
            <Attempts
              name={t('Failed sign-ins')}
              list={attempts.failed_sign_ins}
              since={attempts.since}
              times={times}
            />
          </>
        ) : null}
        <Row name={t('Battery at the end')}>{lastOf(metrics.filter(name => name.startsWith('battery')))}</Row>
        <Row name={t('Signal at the end')}>{lastOf(metrics.filter(name => signalMetrics.includes(name)))}</Row>
        <Row name={t('Neighbours')}>{neighbours ? neighboursText(neighbours) : ''}</Row>
      </dl>
      {attempts === null ? (
        <p class="note">{t('The owner and administrators also see rejected readings and failed sign-ins.')}</p>
      ) : null}
    </section>
  )
}

/** Left out without content. */
function Row({ name, children }: { name: string; children: ComponentChildren }) {
  if (children === '') return null
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

interface LastContactProps extends Pick<WhyProps, 'values' | 'times'> {
  attempts: DeviceContact['attempts'] | undefined
}

/** The last reading, or a later attempt to send one. */
function LastContact({ values, attempts, times }: LastContactProps) {
  const { rejected = [], failed_sign_ins = [] } = attempts ?? {}
  const contacts = [
    ...Object.values(values).map(({ ts }) => ({ atMs: ts, facts: [t('reading')] })),
    ...rejected.map(attempt => ({
      atMs: Date.parse(attempt.at),
      facts: [t('rejected reading'), ...originOf(attempt)],
    })),
    ...failed_sign_ins.map(attempt => ({
      atMs: Date.parse(attempt.at),
      facts: [t('failed sign-in'), ...originOf(attempt)],
    })),
  ]
  const [last] = contacts.sort((a, b) => b.atMs - a.atMs)
  if (last === undefined) return <>{t('none')}</>
  const { atMs, facts } = last
  return <Facts facts={[<Minute atMs={atMs} times={times} />, ageText(serverNowMs.value - atMs), ...facts]} />
}

const originOf = ({ way, sender }: Attempt) => [wayNames[way], sender]

interface AttemptsProps {
  name: string
  list: readonly Attempt[]
  since: string
  times: Times
}

function Attempts({ name, list, since, times }: AttemptsProps) {
  return (
    <Row name={name}>
      {list.length === 0 ? (
        <>
          {t('none since')} <Minute atMs={Date.parse(since)} times={times} />
        </>
      ) : null}
      {list.map(attempt => (
        <div key={`${attempt.first_at} ${attempt.way} ${attempt.sender} ${attempt.reason}`}>
          <Facts
            facts={[
              attempt.reason,
              timesText(attempt.count),
              ...originOf(attempt),
              <>
                {t('latest')} <Minute atMs={Date.parse(attempt.at)} times={times} />
              </>,
            ]}
          />
        </div>
      ))}
    </Row>
  )
}

function Minute({ atMs, times }: { atMs: number; times: Times }) {
  return (
    <Moment at={atMs} times={times}>
      {times.dateTime(atMs)}
    </Moment>
  )
}

function neighboursText({ tag, silent, reporting }: NonNullable<DeviceContact['neighbours']>): string {
  const total = silent + reporting
  if (total === 0) return ''
  const [part, all] = [countText(silent), countText(total)]
  return tag === null
    ? t('{part} of {all} in the fleet silent', { part, all })
    : t('{part} of {all} with {tag} silent', { part, all, tag })
}
