/** Adds a panel or changes one. */

import { useEffect, useRef, useState } from 'preact/hooks'
import type { Panel } from '../../../auth/views/panel.ts'
import type { LatestOfDevice } from '../../../query/live/fleet-shape.ts'
import { lastValue } from '../../client/resource-state.ts'
import { useResources } from '../../client/use-resource.ts'
import { DeviceField } from '../../parts/fields.tsx'
import { RowButton } from '../../parts/record.tsx'
import { type Quantity, quantitiesOf } from '../../text/quantities.ts'
import { t } from '../../words/words.ts'
import { latestAddress } from './device-panels.tsx'
import { isMeasured, kindNames, linesMax, rangeEntries } from './panel-context.ts'

const usual: Panel = {
  kind: 'line',
  title: '',
  width: 2,
  devices: [],
  metrics: [],
  range: '24h',
  tags: [],
  search: '',
}
const widths = [
  [1, t('A quarter')],
  [2, t('Half')],
  [3, t('Three quarters')],
  [4, t('The whole row')],
] as const

export interface PanelDialogProps {
  /** Undefined: a new one. */
  panel: Panel | undefined
  onDone: (panel: Panel) => void
  onClose: () => void
}

export function PanelDialog({ panel, onDone, onClose }: PanelDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  const [form, setForm] = useState(panel ?? usual)
  const change = (changes: Partial<Panel>) => setForm(before => ({ ...before, ...changes }))
  const { kind, title, width, devices, metrics, range, tags, search } = form
  const lines = devices.length * metrics.length
  const isMeasuring = isMeasured(kind)
  const isReady = !isMeasuring || (lines > 0 && lines <= linesMax)
  return (
    <dialog
      ref={dialog}
      class="dash-dialog"
      aria-label={panel === undefined ? t('Add a panel') : t('Change the panel')}
      onClose={onClose}
    >
      <form
        onSubmit={event => {
          event.preventDefault()
          onDone(form)
          dialog.current?.close()
        }}
      >
        <h2>{panel === undefined ? t('Add a panel') : t('Change the panel')}</h2>
        <label class="field">
          {t('Kind')}
          <select
            value={kind}
            onChange={({ currentTarget }) => change({ kind: currentTarget.value as Panel['kind'], metrics: [] })}
          >
            {Object.entries(kindNames).map(([name, text]) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </select>
        </label>
        {isMeasuring || kind === 'findings' ? <Devices {...{ kind, devices, change }} /> : null}
        {isMeasuring ? <Metrics {...{ form, change }} /> : null}
        {isMeasuring && lines > linesMax ? (
          <p class="error">{t('At most {count} pairs of a device and a metric.', { count: linesMax })}</p>
        ) : null}
        {isMeasuring && kind !== 'value' ? (
          <label class="field">
            {t('Range')}
            <select
              value={range}
              onChange={({ currentTarget }) => change({ range: currentTarget.value as Panel['range'] })}
            >
              {rangeEntries.map(([name, text]) => (
                <option key={name} value={name}>
                  {text}
                </option>
              ))}
            </select>
          </label>
        ) : null}
        {kind === 'map' || kind === 'list' ? (
          <>
            <label class="field">
              {t('Tags, with commas')}
              <input
                defaultValue={tags.join(', ')}
                placeholder="site:berlin, room:*"
                maxLength={500}
                autocomplete="off"
                onChange={({ currentTarget }) => change({ tags: tagsIn(currentTarget.value) })}
              />
            </label>
            <label class="field">
              {t('Name or place')}
              <input
                value={search}
                maxLength={128}
                autocomplete="off"
                onInput={({ currentTarget }) => change({ search: currentTarget.value })}
              />
            </label>
          </>
        ) : null}
        <label class="field">
          {t('Title')}
          <input
            value={title}
            maxLength={80}
            placeholder={t('Of the content')}
            autocomplete="off"
            onInput={({ currentTarget }) => change({ title: currentTarget.value })}
          />
        </label>
        <label class="field">
          {t('Width')}
          <select value={width} onChange={({ currentTarget }) => change({ width: Number(currentTarget.value) })}>
            {widths.map(([columns, text]) => (
              <option key={columns} value={columns}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <div class="actions">
          <button type="button" class="button" onClick={() => dialog.current?.close()}>
            {t('Cancel')}
          </button>
          <button type="submit" class="button strong" disabled={!isReady}>
            {panel === undefined ? t('Add') : t('Apply')}
          </button>
        </div>
      </form>
    </dialog>
  )
}

function tagsIn(text: string): string[] {
  const tags = text.split(',').map(tag => tag.trim())
  return [...new Set(tags.filter(tag => tag !== ''))]
}

interface DevicesProps extends Pick<Panel, 'kind' | 'devices'> {
  change: (changes: Partial<Panel>) => void
}

function Devices({ kind, devices, change }: DevicesProps) {
  // A field that is mounted again is empty.
  const add = (name: string) => {
    if (name !== '' && !devices.includes(name)) change({ devices: [...devices, name] })
  }
  return (
    <>
      {devices.length === 0 ? null : (
        <ul class="dash-chosen" aria-label={t('Devices')}>
          {devices.map(name => (
            <li key={name}>
              {name}{' '}
              <RowButton
                name={name}
                text={t('Remove')}
                onClick={() => change({ devices: devices.filter(one => one !== name) })}
              />
            </li>
          ))}
        </ul>
      )}
      {devices.length < linesMax ? (
        <DeviceField
          key={devices.length}
          label={
            devices.length > 0
              ? t('Another device')
              : kind === 'findings'
                ? t('Device; none: the whole fleet')
                : t('Device')
          }
          value=""
          onChoose={add}
        />
      ) : null}
    </>
  )
}

const kindsOf: Readonly<Partial<Record<Panel['kind'], readonly Quantity['kind'][]>>> = {
  line: ['gauge'],
  bars: ['counter', 'rate'],
  state: ['state'],
}

/** The metrics of the devices that the kind of the panel shows. */
function Metrics({ form, change }: { form: Panel; change: (changes: Partial<Panel>) => void }) {
  const { kind, devices, metrics } = form
  const answers = useResources<LatestOfDevice>(devices.map(latestAddress))
  const known = answers.flatMap(state => lastValue(state) ?? [])
  const quantities = quantitiesOf(...known.map(one => one.metrics))
  const isShown = (name: string) => kindsOf[kind]?.includes(quantities.of(name).kind) ?? true
  const found = new Set(known.flatMap(({ values }) => Object.keys(values)).filter(isShown))
  const names = [...new Set([...found, ...metrics])]
  if (devices.length === 0) return null
  return (
    <fieldset class="dash-metrics">
      <legend>{t('Metrics')}</legend>
      {names.map(name => (
        <label key={name} class="check">
          <input
            type="checkbox"
            checked={metrics.includes(name)}
            onChange={({ currentTarget: { checked } }) =>
              change({ metrics: checked ? [...metrics, name] : metrics.filter(one => one !== name) })
            }
          />
          {quantities.of(name).name}
        </label>
      ))}
      <p role="status">
        {noteOf(
          answers.map(state => state.kind),
          names.length,
        )}
      </p>
    </fieldset>
  )
}

function noteOf(kinds: readonly string[], count: number): string {
  if (kinds.includes('failed')) return t('A device of these is not there, or you may not read it.')
  if (kinds.includes('loading')) return ''
  return count === 0 ? t('These devices have no metrics of this kind.') : ''
}
