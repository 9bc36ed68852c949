/** Decoders that people write for sensors in formats of their own: add, edit, remove. */

import { useState } from 'preact/hooks'
import type { DecoderDetails, DecoderPage } from '../../../api/admin/answers.ts'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { Help, ListSection } from '../../parts/list-section.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Record, RowButton } from '../../parts/record.tsx'
import type { Actions } from '../../parts/use-actions.tsx'
import { t, tn, tp } from '../../words/words.ts'
import { DecoderEditor } from './decoder-editor.tsx'

export function DecodersSection() {
  return (
    <ListSection
      path="/decoders"
      noun={t('decoders')}
      counted={count => tn(count, '{count} decoder.', '{count} decoders.')}
      itemsOf={(page: DecoderPage) => page.decoders}
      keyOf={({ name }) => name}
      row={(decoder, actions) => <DecoderRow decoder={decoder} actions={actions} />}
    >
      {actions => (
        <>
          <NewDecoder actions={actions} />
          <Help name={t('decoders')}>
            {t(
              'A decoder finds device, time and values in messages of a sensor that sends in a format of its own, by MQTT or to the webhook /in/NAME/KEY. Zigbee2MQTT, Tasmota, The Things Stack, weather stations and others need none.',
            )}
          </Help>
        </>
      )}
    </ListSection>
  )
}

function NewDecoder({ actions }: { actions: Actions }) {
  const [isOpen, setOpen] = useState(false)
  if (isOpen) return <DecoderEditor actions={actions} onClose={() => setOpen(false)} />
  return (
    <button type="button" class="button strong" onClick={() => setOpen(true)}>
      {t('Add a decoder')}
    </button>
  )
}

function DecoderRow({ decoder, actions }: { decoder: DecoderDetails; actions: Actions }) {
  const [isEditing, setEditing] = useState(false)
  const { name, topics = [], device, updated_at } = decoder
  const facts = [
    `/in/${name}/KEY`,
    topics.join(', ') || undefined,
    t('device {list}', { list: device.join(', ') }),
    tp('changed {moment}', { moment: <Moment at={updated_at} /> }),
  ]
  return (
    <>
      <Record name={name} facts={facts}>
        <RowButton name={name} text={t('Edit')} onClick={() => setEditing(true)} />
        <ConfirmedButton
          title={t('Remove {name}?', { name })}
          text={t('Messages to its webhook and of its topics are refused from then on.')}
          name={name}
          verb={t('Remove')}
          onConfirm={() =>
            void actions.change('DELETE', `/decoders/${name}`, undefined, t('{name} is removed.', { name }))
          }
        />
      </Record>
      {isEditing ? <DecoderEditor decoder={decoder} actions={actions} onClose={() => setEditing(false)} /> : null}
    </>
  )
}
