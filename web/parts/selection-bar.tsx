/** Actions on the selected devices: one change of all, after a confirmation. */

import './managed.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { DeviceBulkAnswer } from '../../api/admin/answers.ts'
import type { Rotated } from '../../auth/devices/device.ts'
import type { Fleet as FleetAnswer } from '../../query/live/fleet-shape.ts'
import { addressOf } from '../client/address.ts'
import { readJson } from '../client/read-json.ts'
import { useSize } from '../client/screen.ts'
import { sendChange } from '../client/send-change.ts'
import { t } from '../words/words.ts'
import { Dialog } from './dialog.tsx'
import { Banner } from './loading.tsx'
import { SecretOnce } from './secret-once.tsx'
import {
  actionNames,
  type BulkAction,
  passwordsCsv,
  questionOf,
  resultText,
  selectedText,
  selectionMax,
} from './selection.ts'

export interface SelectionBarProps {
  names: ReadonlySet<string>
  /** The request for all devices that match, where these can be selected at once. */
  match?: string
  /** Undefined ends the selection. */
  onSelect: (names: ReadonlySet<string> | undefined) => void
  onChanged: () => void
}

type Outcome = { action: BulkAction; answer: DeviceBulkAnswer } | { sentence: string }

const actions: readonly BulkAction[] = ['tag', 'untag', 'suspend', 'resume', 'rotate']

export function SelectionBar({ names, match, onSelect, onChanged }: SelectionBarProps) {
  const [asked, setAsked] = useState<BulkAction>()
  const [isBusy, setBusy] = useState(false)
  const [outcome, setOutcome] = useState<Outcome>()
  const [issued, setIssued] = useState<readonly Rotated[]>([])
  const first = useRef<HTMLButtonElement>(null)
  useEffect(() => first.current?.focus(), [])
  const shownMatch = useRef(match)
  shownMatch.current = match
  const selectAll = async (path: string) => {
    setOutcome(undefined)
    const read = await readJson<FleetAnswer>(addressOf(path))
    // The filters may be others by now.
    if (shownMatch.current !== path) return
    if (read.kind === 'answer') onSelect(new Set(read.value.devices.map(({ device }) => device)))
    else setOutcome({ sentence: t('The devices that match could not be read. Try again.') })
  }
  const change = async (action: BulkAction, more: object) => {
    setBusy(true)
    setOutcome(undefined)
    const body = { action, devices: [...names], ...more }
    const sent = await sendChange<DeviceBulkAnswer>('POST', addressOf('/api/admin/device-changes'), body)
    setBusy(false)
    setOutcome(sent.ok ? { action, answer: sent.value } : { sentence: sent.sentence })
    if (sent.ok) setIssued(sent.value.issued)
    onChanged()
  }
  if (issued.length > 0) {
    return (
      <div class="selection managed">
        <Result outcome={outcome} onDismiss={() => setOutcome(undefined)} />
        <Passwords issued={issued} onDone={() => setIssued([])} />
      </div>
    )
  }
  return (
    <AtTop>
      <section class="selection managed" aria-label={t('Selection')}>
        <div class="actions">
          <p role="status">{selectedText(names.size)}</p>
          <button type="button" class="button" disabled={isBusy} onClick={() => onSelect(undefined)}>
            {t('Done')}
          </button>
          <div class="changes">
            {match === undefined ? null : (
              <button ref={first} type="button" class="button" disabled={isBusy} onClick={() => void selectAll(match)}>
                {t('All that match')}
                <span class="limit"> {t('(at most {selectionMax}, by name)', { selectionMax })}</span>
              </button>
            )}
            {actions.map(action => (
              <button
                key={action}
                type="button"
                class="button"
                disabled={isBusy || names.size === 0}
                onClick={() => setAsked(action)}
              >
                {actionNames[action]}
              </button>
            ))}
          </div>
        </div>
        {isBusy ? <p role="status">{t('The change is being made.')}</p> : null}
        <Result outcome={outcome} onDismiss={() => setOutcome(undefined)} />
        {asked === undefined ? null : (
          <ChangeDialog
            {...questionOf(asked, names.size)}
            action={asked}
            onConfirm={more => void change(asked, more)}
            onClose={() => setAsked(undefined)}
          />
        )}
      </section>
    </AtTop>
  )
}

function Result({ outcome, onDismiss }: { outcome: Outcome | undefined; onDismiss: () => void }) {
  if (outcome === undefined) return null
  if ('sentence' in outcome) {
    return (
      <Banner kind="bad" onDismiss={onDismiss}>
        {outcome.sentence}
      </Banner>
    )
  }
  const { action, answer } = outcome
  return (
    <Banner kind={answer.failed.length === 0 ? 'note' : 'bad'} onDismiss={onDismiss}>
      {resultText(action, answer.done, answer.failed.length)}
      {answer.failed.length === 0 ? null : (
        <ul>
          {answer.failed.map(({ device, reason }) => (
            <li key={device}>
              {device}: {reason}
            </li>
          ))}
        </ul>
      )}
    </Banner>
  )
}

function Passwords({ issued, onDone }: { issued: readonly Rotated[]; onDone: () => void }) {
  const csv = passwordsCsv(issued)
  const url = useMemo(() => URL.createObjectURL(new Blob([csv], { type: 'text/csv' })), [csv])
  useEffect(() => () => URL.revokeObjectURL(url), [url])
  return (
    <SecretOnce
      title={t('New passwords')}
      text={t('Copy or download them now. They are shown only once.')}
      parts={[{ name: t('Names and passwords, as CSV'), text: csv }]}
      onDone={onDone}
    >
      {' '}
      <a class="button" href={url} download="device-passwords.csv">
        {t('Download CSV')}
      </a>
    </SecretOnce>
  )
}

interface ChangeDialogProps {
  action: BulkAction
  title: string
  consequence: string
  /** `more`: fields of the change beside its devices. */
  onConfirm: (more: object) => void
  onClose: () => void
}

function ChangeDialog({ action, title, consequence, onConfirm, onClose }: ChangeDialogProps) {
  const [tag, setTag] = useState('')
  const [isNow, setNow] = useState(false)
  const isOfTag = action === 'tag' || action === 'untag'
  const more = isOfTag ? { tag: tag.trim() } : action === 'rotate' ? { now: isNow } : {}
  return (
    <Dialog title={title} onClose={onClose}>
      {close => (
        <form
          onSubmit={event => {
            event.preventDefault()
            close()
            onConfirm(more)
          }}
        >
          <p>{consequence}</p>
          {isOfTag ? (
            <label class="field">
              {t('Tag')}
              <input
                value={tag}
                required
                maxLength={97}
                placeholder="site:berlin"
                autocomplete="off"
                onInput={({ currentTarget }) => setTag(currentTarget.value)}
              />
            </label>
          ) : null}
          {action === 'rotate' ? (
            <label class="check">
              <input type="checkbox" checked={isNow} onChange={({ currentTarget }) => setNow(currentTarget.checked)} />
              {t('The old passwords end at once')}
            </label>
          ) : null}
          <div class="actions">
            <button type="button" class="button" onClick={close}>
              {t('Cancel')}
            </button>
            <button
              type="submit"
              class={action === 'suspend' || action === 'rotate' ? 'button strong danger' : 'button strong'}
            >
              {actionNames[action]}
            </button>
          </div>
        </form>
      )}
    </Dialog>
  )
}

function AtTop({ children }: { children: ComponentChildren }) {
  const { place, size } = useSize()
  useEffect(() => {
    const { style } = document.documentElement
    style.setProperty('--at-top', `${size.height}px`)
    return () => void style.removeProperty('--at-top')
  }, [size.height])
  return (
    <div class="at-top" ref={place}>
      {children}
    </div>
  )
}
