/** Rows that QuestDB refused: why, and whether they are sent again or given up. */

import { countText } from '../../../analytics/findings/value-words.ts'
import type { DamagedLetter, DeadLetter, DeadLetterPage, Replayed } from '../../../api/admin/dead-letter-answers.ts'
import { setArguments, urlArguments } from '../../client/address.ts'
import { type Actions, ListSection } from '../../parts/list-section.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Record } from '../../parts/record.tsx'
import { RowButton } from '../../parts/row-button.tsx'

export function DeadLettersSection() {
  const table = urlArguments.value.get('table') === 'points' ? 'points' : 'readings'
  return (
    <>
      <label class="field search">
        Of
        <select
          value={table}
          onChange={({ currentTarget }) => setArguments({ table: currentTarget.value, after: undefined })}
        >
          <option value="readings">readings of devices</option>
          <option value="points">points of stations</option>
        </select>
      </label>
      <ListSection
        path="/dead-letters"
        noun="dead letters"
        pageArgument="after"
        more={{ table }}
        itemsOf={(page: DeadLetterPage) => [...page.damaged, ...page.dead_letters]}
        keyOf={letter => letter.id}
        row={(letter, actions) =>
          'name' in letter ? (
            <DamagedRow letter={letter} actions={actions} />
          ) : (
            <LetterRow letter={letter} table={table} actions={actions} />
          )
        }
      >
        {({ isBusy, change }) => (
          <button
            type="button"
            class="button"
            disabled={isBusy}
            onClick={() => void change('POST', '/dead-letters/replay', { table }, replayedText)}
          >
            Send all again
          </button>
        )}
      </ListSection>
    </>
  )
}

function replayedText({ damaged }: Replayed): string {
  return damaged === 0
    ? 'All are sent again.'
    : `The others are sent again. ${countText(damaged)} damaged stay: discard them.`
}

function DamagedRow({ letter, actions }: { letter: DamagedLetter; actions: Actions }) {
  const { table, id, name, reason } = letter
  const discard = () =>
    void actions.change('POST', '/dead-letters/discard', { table, ids: [id] }, `${name} is discarded.`)
  return (
    <Record name={name} facts={['damaged', reason]}>
      <RowButton name={name} text="Discard" onClick={discard} />
    </Record>
  )
}

function LetterRow({ letter, table, actions }: { letter: DeadLetter; table: string; actions: Actions }) {
  const { id, at, reason, symbol, time, values } = letter
  const name = `${symbol} ${time}`
  const readings = Object.entries(values).map(([metric, value]) => `${metric} ${value ?? 'none'}`)
  const send = (action: 'replay' | 'discard', done: string) =>
    void actions.change('POST', `/dead-letters/${action}`, { table, ids: [id] }, done)
  return (
    <Record
      name={name}
      facts={[
        reason,
        readings.join(', '),
        <>
          refused <Moment at={at} />
        </>,
      ]}
    >
      <RowButton name={name} text="Send again" onClick={() => send('replay', `${name} is sent again.`)} />
      <RowButton name={name} text="Discard" onClick={() => send('discard', `${name} is discarded.`)} />
    </Record>
  )
}
