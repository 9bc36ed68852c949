/** The annotations within the range of the charts as a list, and forms that write, change and remove them. */

import '../../parts/managed.css'
import { useState } from 'preact/hooks'
import type { Annotation } from '../../../auth/annotations/annotation.ts'
import { type AnnotationsOf, AnnotationText, LeftOutAnnotations, useAnnotationsOf } from '../../charts/annotations.tsx'
import { localMinute, type TimeWindow } from '../../charts/range.ts'
import { addressOf } from '../../client/address.ts'
import { AddForm, type FormField, type FormValues } from '../../parts/add-form.tsx'
import { RowButton } from '../../parts/record.tsx'
import { type Actions, useActions } from '../../parts/use-actions.tsx'
import { localMs, type Zone } from '../../text/zone.ts'
import type { Times } from '../../theme/times.ts'
import { t } from '../../words/words.ts'
import type { Measured } from './answers.ts'

interface AnnotationsProps {
  readonly device: string
  readonly annotations: KnownAnnotations
  readonly nowMs: number
  readonly zone: Zone
  readonly times: Times
}

export function Annotations({ device, annotations, nowMs, zone, times }: AnnotationsProps) {
  const { shown, total, mayAnnotate, mayAnnotateAll, refresh } = annotations
  const { actions, notice } = useActions('/api/annotations', refresh)
  const [changed, setChanged] = useState<number>()
  if (shown.length === 0 && !mayAnnotate && notice === null) return null
  return (
    <section class="annotations managed" aria-labelledby="annotations">
      <h3 id="annotations">{t('Annotations')}</h3>
      {notice}
      {shown.length === 0 ? null : (
        <ul>
          {shown.map(annotation => (
            <li key={annotation.id}>
              {changed === annotation.id ? (
                <ChangeForm {...{ annotation, actions, zone }} onClose={() => setChanged(undefined)} />
              ) : (
                <AnnotationText {...{ annotation, times }}>
                  {(annotation.device === null ? mayAnnotateAll : mayAnnotate) ? (
                    <Buttons {...{ annotation, actions }} onChange={() => setChanged(annotation.id)} />
                  ) : null}
                </AnnotationText>
              )}
            </li>
          ))}
        </ul>
      )}
      <LeftOutAnnotations {...{ shown, total }} />
      <div class="actions">
        {mayAnnotate ? <NewForm {...{ device, actions, nowMs, zone }} hasAll={mayAnnotateAll} /> : null}
        {shown.length === 0 ? null : (
          <a
            class="button quiet"
            href={addressOf(`/api/device/${encodeURIComponent(device)}/annotations?format=csv`)}
            download={`${device}-annotations.csv`}
          >
            {t('Download annotations as CSV')}
          </a>
        )}
      </div>
    </section>
  )
}

interface ButtonsProps {
  annotation: Annotation
  actions: Actions
  onChange: () => void
}

function Buttons({ annotation: { id, text }, actions, onChange }: ButtonsProps) {
  return (
    <span class="actions">
      <RowButton name={text} text={t('Change')} onClick={onChange} />
      <RowButton
        name={text}
        text={t('Remove')}
        onClick={() => void actions.change('DELETE', `/${id}`, undefined, t('Removed: {text}', { text }))}
      />
    </span>
  )
}

/** `given` holds the initial values of the fields. */
function fieldsOf(given: { text: string; fromMs: number; toMs: number | undefined }, zone: Zone): FormField[] {
  const { text, fromMs, toMs } = given
  return [
    { name: 'text', label: t('Text'), isRequired: true, value: text, hint: t('One line, at most 256 characters') },
    {
      name: 'from',
      label: t('From'),
      kind: 'datetime-local',
      isRequired: true,
      value: localMinute(fromMs, zone),
      hint: t('Times: {name}', { name: zone.name }),
    },
    {
      name: 'to',
      label: t('To'),
      kind: 'datetime-local',
      value: toMs === undefined ? null : localMinute(toMs, zone),
      hint: t('Empty for a moment'),
    },
  ]
}

function bodyOf({ text, from, to }: FormValues, zone: Zone) {
  const moment = (local: FormValues[string]) => new Date(localMs(zone, String(local))).toISOString()
  return { text, from: moment(from ?? ''), to: to === null ? null : moment(to ?? '') }
}

interface NewFormProps {
  device: string
  actions: Actions
  nowMs: number
  zone: Zone
  hasAll: boolean
}

function NewForm({ device, actions, nowMs, zone, hasAll }: NewFormProps) {
  const all: FormField[] = hasAll ? [{ name: 'all', label: t('About all devices'), kind: 'check' }] : []
  return (
    <AddForm
      title={t('Annotate')}
      verb={t('Write')}
      fields={[...fieldsOf({ text: '', fromMs: nowMs, toMs: undefined }, zone), ...all]}
      isBusy={actions.isBusy}
      onSend={async values => {
        const body = { device: values['all'] === true ? null : device, ...bodyOf(values, zone) }
        return (await actions.change('POST', '', body, t('Written.'))) !== undefined
      }}
    />
  )
}

interface ChangeFormProps {
  annotation: Annotation
  actions: Actions
  zone: Zone
  onClose: () => void
}

function ChangeForm({ annotation, actions, zone, onClose }: ChangeFormProps) {
  const { id, from, to, text } = annotation
  const fromMs = Date.parse(from)
  const toMs = to === null ? undefined : Date.parse(to)
  return (
    <AddForm
      title={t('Change: {text}', { text })}
      verb={t('Save')}
      fields={fieldsOf({ text, fromMs, toMs }, zone)}
      isBusy={actions.isBusy}
      isOpen
      onSend={async values => {
        return (await actions.change('PATCH', `/${id}`, bodyOf(values, zone), t('Changed.'))) !== undefined
      }}
      onClose={onClose}
    />
  )
}

export interface KnownAnnotations extends Pick<AnnotationsOf, 'shown' | 'total' | 'refresh'> {
  readonly mayAnnotate: boolean
  readonly mayAnnotateAll: boolean
}

/** Empty for a station. */
export function useAnnotations({ kind, name }: Measured, window: TimeWindow): KnownAnnotations {
  const { shown, total, answers, refresh } = useAnnotationsOf(kind === 'device' ? [name] : [], window)
  const [known] = answers
  return {
    shown,
    total,
    mayAnnotate: known?.may_annotate ?? false,
    mayAnnotateAll: known?.may_annotate_all ?? false,
    refresh,
  }
}
