/** Counts how often a rule would have fired in the last days, drawn over the readings. */

import { useEffect, useMemo, useState } from 'preact/hooks'
import type { PreviewAnswer } from '../../../alerts/core/preview-answer.ts'
import type { NewRule } from '../../../alerts/core/rule.ts'
import { Presets } from '../../charts/range-controls.tsx'
import { addressOf } from '../../client/address.ts'
import { sendChange } from '../../client/send-change.ts'
import { useRested } from '../../client/use-resource.ts'
import { Banner, Skeleton } from '../../parts/loading.tsx'
import { inOneUnit } from '../../text/numbers.ts'
import { timesText } from '../../text/phrases.ts'
import { countText, t, tc, tn } from '../../words/words.ts'
import { PreviewChart } from './preview-chart.tsx'
import type { KnownFleet } from './use-fleet.ts'

const dayMs = 86_400_000
const minuteMs = 60_000
const ranges = { '7': t('7 days'), '30': t('30 days'), '90': t('90 days'), '365': t('1 year') } as const

export interface RulePreviewProps {
  /** Undefined while something is missing. */
  rule: NewRule | undefined
  fleet: KnownFleet
}

export function RulePreview({ rule, fleet }: RulePreviewProps) {
  const [days, setDays] = useState<keyof typeof ranges>('30')
  // A range that moved on with each key would be another question each time.
  const toMs = useMemo(() => Math.floor(Date.now() / minuteMs) * minuteMs, [days])
  const range = { fromMs: toMs - Number(days) * dayMs, toMs }
  const { answer, isLoading, failure } = usePreview(rule === undefined ? undefined : bodyOf(rule, range))
  return (
    <section class="card preview" aria-labelledby="preview">
      <div class="section-head">
        <h2 id="preview">{t('How it would have behaved')}</h2>
        <Presets names={ranges} chosen={days} onChoose={setDays} />
      </div>
      {rule === undefined ? <p class="soft">{t('The preview follows once the rule is complete.')}</p> : null}
      {failure === undefined ? null : <Banner kind="warn">{failure}</Banner>}
      {isLoading && answer === undefined ? <Skeleton name={t('The preview is loading')} rows={3} /> : null}
      {answer === undefined || rule === undefined ? null : (
        <div class={isLoading ? 'stale' : undefined} aria-busy={isLoading}>
          <Answer answer={answer} rule={rule} fleet={fleet} window={range} />
        </div>
      )}
    </section>
  )
}

/** Fields that do not affect the evaluation are left out, so that they cause no further request. */
function bodyOf(rule: NewRule, { fromMs, toMs }: { fromMs: number; toMs: number }): string {
  const evaluated = {
    ...rule,
    name: 'preview',
    note: '',
    channels: [],
    group_by: null,
    enabled: true,
    severity: 'info',
  }
  return JSON.stringify({
    rule: evaluated,
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
  })
}

interface AnswerProps {
  answer: PreviewAnswer
  rule: NewRule
  fleet: KnownFleet
  window: { fromMs: number; toMs: number }
}

function Answer({ answer, rule, fleet, window }: AnswerProps) {
  const [chosen, setChosen] = useState<string>()
  if (!answer.supported)
    return <p>{t('There is no preview of this kind: it depends on more than the stored readings.')}</p>
  const { devices, devices_left_out, weeks } = answer
  const shown = devices.find(({ device }) => device === chosen) ?? devices[0]
  return (
    <>
      <p class="preview-sum" role="status">
        {sentenceOf(answer)}
      </p>
      {shown === undefined ? null : (
        <>
          {devices.length < 2 ? null : (
            <label class="field">
              {t('Drawn for')}
              <select value={shown.device ?? ''} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
                {devices.map(({ device, count }) => (
                  <option key={device} value={device ?? ''}>
                    {device} ({timesText(count)})
                  </option>
                ))}
              </select>
            </label>
          )}
          <PreviewChart {...{ shown, rule, fleet, window }} />
        </>
      )}
      {devices_left_out === 0 ? null : (
        <p class="soft">
          {tn(
            devices_left_out,
            '{count} more device of the rule are not previewed.',
            '{count} more devices of the rule are not previewed.',
          )}
        </p>
      )}
      <Weeks weeks={weeks} forSeconds={rule.for_seconds} />
    </>
  )
}

function sentenceOf({ total, longest_seconds, devices }: PreviewAnswer): string {
  if (total === 0) return t('It would not have fired.')
  const fired = devices.filter(({ count }) => count > 0).length
  const where = devices.length < 2 ? '' : tn(fired, ' on {count} device', ' on {count} devices')
  return t('It would have fired {times}{where}, for {duration} at the longest.', {
    times: timesText(total),
    where,
    duration: inOneUnit(longest_seconds),
  })
}

/** Results for half and twice the required time show its effect. */
function Weeks({ weeks, forSeconds }: { weeks: PreviewAnswer['weeks']; forSeconds: number }) {
  if (weeks.length === 0) return null
  const heads =
    forSeconds === 0
      ? [tc('count', 'Times')]
      : [forSeconds / 2, forSeconds, forSeconds * 2].map(s => t('For {duration}', { duration: inOneUnit(s) }))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
    <section class="twin-scroll" tabIndex={0} aria-label={t('By week')}>
      <table>
        <caption>{t('How often it would have fired, by week')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('Week')}</th>
            {heads.map(head => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map(({ week, half, count, twice }) => (
            <tr key={week}>
              <th scope="row">{week}</th>
              {(forSeconds === 0 ? [count] : [half, count, twice]).map((times, place) => (
                <td key={place}>{countText(times)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** The pause after the last key before a request. */
const restMs = 400

interface ShownPreview {
  /** The last one that came; of a rule of some keys ago while another one is awaited. */
  readonly answer: PreviewAnswer | undefined
  readonly isLoading: boolean
  /** The reason for a missing preview, in a sentence. */
  readonly failure: string | undefined
}

const nothing: ShownPreview = { answer: undefined, isLoading: false, failure: undefined }

/** `body`: the request as JSON, or undefined while the rule is missing. */
function usePreview(body: string | undefined): ShownPreview {
  const rested = useRested(body, restMs)
  const [shown, setShown] = useState<ShownPreview>(nothing)
  useEffect(() => {
    if (rested === undefined) {
      setShown(nothing)
      return undefined
    }
    let isWanted = true
    const asking = new AbortController()
    setShown(({ answer }) => ({ answer, isLoading: true, failure: undefined }))
    const request = (url: string, init: RequestInit) =>
      fetch(url, { ...init, signal: AbortSignal.any([asking.signal, init.signal as AbortSignal]) })
    const url = addressOf('/api/alert-rules/preview')
    void sendChange<PreviewAnswer>('POST', url, JSON.parse(rested), request).then(sent => {
      if (!isWanted) return
      if (sent.ok) setShown({ answer: sent.value, isLoading: false, failure: undefined })
      else setShown({ answer: undefined, isLoading: false, failure: sent.sentence })
    })
    return () => {
      isWanted = false
      asking.abort()
    }
  }, [rested])
  return shown
}
