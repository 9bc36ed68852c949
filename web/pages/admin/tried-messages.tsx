/** Recent messages with the readings that a decoder finds in them. */

import type { TriedDecoder } from '../../../api/admin/answers.ts'
import { Moment } from '../../parts/moment.tsx'
import { t } from '../../words/words.ts'

type Message = TriedDecoder['messages'][number]
type Value = Message['readings'][number]['values'][number]

export function TriedMessages({ messages }: { messages: readonly Message[] }) {
  return (
    <section class="tried" aria-label={t('Recent messages, decoded')} aria-live="polite">
      <h3>{t('Recent messages, decoded')}</h3>
      {messages.length === 0 ? (
        <p class="soft">
          {t('Up to ten messages of these topics and of this webhook are decoded here while you type.')}
        </p>
      ) : (
        <table>
          <thead>
            <tr>
              {[t('Device'), t('Time'), t('Metrics and values')].map(head => (
                <th scope="col" key={head}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{messages.map(rowsOf)}</tbody>
        </table>
      )}
    </section>
  )
}

function rowsOf({ at: receivedAt, readings, reason, place }: Message, at: number) {
  if (readings.length === 0) return <Row key={at} device={place} time={receivedAt} reason={reason} />
  return readings.map(({ device, at: time, values }, reading) => (
    <Row key={`${at} ${reading}`} device={device} time={time ?? receivedAt} values={values} />
  ))
}

interface RowProps {
  device: string
  time: string
  values?: readonly Value[]
  reason?: string | undefined
}

function Row({ device, time, values = [], reason }: RowProps) {
  return (
    <tr>
      <td>{device}</td>
      <td>
        <Moment at={time} />
      </td>
      <td>
        {reason === undefined ? null : <span class="error">{reason}</span>}
        {values.map(({ metric, value, fault }) => (
          <span class="value" key={metric}>
            {metric} <strong>{valueText(value)}</strong>
            {fault === undefined ? null : <span class="error"> {fault}</span>}
          </span>
        ))}
      </td>
    </tr>
  )
}

/** Six digits hide the rounding of a conversion. */
function valueText(value: unknown): string {
  return typeof value === 'number' ? String(Number(value.toPrecision(6))).replace('-', '−') : String(value)
}
