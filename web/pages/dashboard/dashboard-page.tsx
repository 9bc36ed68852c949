/** A dashboard of the signed-in person: shown, and edited in a draft until it is saved. */

import { useEffect, useRef, useState } from 'preact/hooks'
import type { Panel } from '../../../auth/views/panel.ts'
import type { View } from '../../../auth/views/view.ts'
import { addressOf, showPage } from '../../client/address.ts'
import { lastValue } from '../../client/resource-state.ts'
import { useTitle } from '../../client/tab.ts'
import { useRefreshed } from '../../client/use-resource.ts'
import { Banner, PageFailure, Skeleton } from '../../parts/loading.tsx'
import { RowButton } from '../../parts/record.tsx'
import { type Actions, useActions } from '../../parts/use-actions.tsx'
import { createTimes } from '../../text/times.ts'
import { t } from '../../words/words.ts'
import { Dashboard } from './dashboard.tsx'
import { MoveButton, moved } from './move-button.tsx'
import { panelsMax, titleOf } from './panel-context.ts'
import { PanelDialog } from './panel-dialog.tsx'

const api = '/v1/auth/me/views'

export function DashboardPage({ id }: { id: string }) {
  const isNew = id === 'new'
  const { state, refresh } = useRefreshed<View[]>(addressOf(api))
  const { actions, notice } = useActions(api, refresh)
  const view = lastValue(state)?.find(one => String(one.id) === id)
  useTitle(view?.name ?? (isNew ? t('New dashboard') : t('Dashboard')))
  if (state.kind === 'loading') return <Skeleton name={t('The dashboard is loading')} rows={8} />
  if (state.kind === 'failed') return <PageFailure state={state} timeText={createTimes('UTC').time} />
  if (!isNew && (view === undefined || view.panels === null)) return <Unknown />
  const saved = { name: view?.name ?? '', panels: view?.panels ?? [] }
  return (
    <>
      {notice}
      <Edited key={id} {...{ id, saved, actions }} />
    </>
  )
}

function Unknown() {
  return (
    <>
      <h1>{t('Not found')}</h1>
      <p>{t('You have no dashboard here. It may have been removed, or it belongs to another account.')}</p>
    </>
  )
}

interface Draft {
  readonly name: string
  readonly panels: readonly Panel[]
}

interface EditedProps {
  id: string
  saved: Draft
  actions: Actions
}

function Edited({ id, saved, actions }: EditedProps) {
  const isNew = id === 'new'
  const { draft, setDraft, isRestored } = useDraft(id, isNew ? saved : undefined)
  const hasChanges = draft !== undefined && JSON.stringify(draft) !== JSON.stringify(saved)
  useLeaveWarning(hasChanges)
  /** The place of the panel in the dialog; `panels.length` for a new one. */
  const [open, setOpen] = useState<number>()
  const [spoken, setSpoken] = useState('')
  // A drag moves a panel several times between two renderings.
  const latest = useRef(draft)
  latest.current = draft
  function setPanels(panels: readonly Panel[]): void {
    if (latest.current === undefined) return
    latest.current = { ...latest.current, panels }
    setDraft(latest.current)
  }
  function move(panel: Panel, to: number): void {
    const before = latest.current?.panels ?? []
    const from = before.indexOf(panel)
    if (from === -1 || to < 0 || to >= before.length || from === to) return
    setPanels(moved(before, from, to))
    setSpoken(t('{title}: place {place} of {count}.', { title: titleOf(panel), place: to + 1, count: before.length }))
  }
  async function save(): Promise<void> {
    const done = t('“{name}” is saved.', { name: String(draft?.name) })
    const view = await actions.change<View>(isNew ? 'POST' : 'PATCH', isNew ? '' : `/${id}`, draft, done)
    if (view === undefined) return
    setDraft(undefined)
    if (isNew) showPage(view.address)
  }
  function discard(): void {
    setDraft(undefined)
    if (isNew) showPage('/')
  }
  const controls = (panel: Panel, place: number) => (
    <div class="dash-controls">
      <MoveButton name={titleOf(panel)} place={place} onMove={to => move(panel, to)} />
      <RowButton name={titleOf(panel)} text={t('Change')} onClick={() => setOpen(place)} />
      <RowButton
        name={titleOf(panel)}
        text={t('Remove')}
        onClick={() => {
          setPanels(latest.current?.panels.filter(one => one !== panel) ?? [])
          setSpoken(t('{name} is removed.', { name: titleOf(panel) }))
        }}
      />
    </div>
  )
  const { panels } = draft ?? saved
  return (
    <>
      {draft === undefined ? (
        <div class="section-head">
          <h1>{saved.name}</h1>
          <button type="button" class="button" onClick={() => setDraft(saved)}>
            {t('Edit')}
          </button>
        </div>
      ) : (
        <div>
          <h1>{isNew ? t('New dashboard') : t('Edit {name}', { name: saved.name })}</h1>
          {isRestored && hasChanges ? (
            <Banner kind="note">{t('Your changes from before are not saved yet.')}</Banner>
          ) : null}
          <EditForm
            {...{ draft, setDraft, isNew }}
            isBusy={actions.isBusy}
            onAdd={() => setOpen(panels.length)}
            onSave={() => void save()}
            onDiscard={discard}
          />
        </div>
      )}
      <p class="unseen" aria-live="polite">
        {spoken}
      </p>
      <Dashboard panels={panels} {...(draft === undefined ? {} : { controls })} />
      {open === undefined ? null : (
        <PanelDialog
          panel={panels[open]}
          onDone={panel => setPanels(panels.toSpliced(open, 1, panel))}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  )
}

/** A draft survives another page and a reload of this one, in the storage of the tab. */
function useDraft(id: string, initial: Draft | undefined) {
  const key = `dashboard ${id}`
  const [stored] = useState(() => readDraft(key))
  const [draft, set] = useState(stored ?? initial)
  function setDraft(changed: Draft | undefined): void {
    set(changed)
    try {
      if (changed === undefined) sessionStorage.removeItem(key)
      else sessionStorage.setItem(key, JSON.stringify(changed))
    } catch {
      // Without storage, the warning before the page is left remains.
    }
  }
  return { draft, setDraft, isRestored: stored !== undefined }
}

function readDraft(key: string): Draft | undefined {
  try {
    const text = sessionStorage.getItem(key)
    return text === null ? undefined : (JSON.parse(text) as Draft)
  } catch {
    return undefined
  }
}

/** The browser asks before it closes the tab. */
function useLeaveWarning(hasChanges: boolean): void {
  useEffect(() => {
    if (!hasChanges) return undefined
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [hasChanges])
}

interface EditFormProps {
  draft: Draft
  setDraft: (draft: Draft) => void
  isNew: boolean
  isBusy: boolean
  onAdd: () => void
  onSave: () => void
  onDiscard: () => void
}

function EditForm({ draft, setDraft, isNew, isBusy, onAdd, onSave, onDiscard }: EditFormProps) {
  const { name, panels } = draft
  return (
    <>
      <form
        class="choice"
        onSubmit={event => {
          event.preventDefault()
          onSave()
        }}
      >
        <label class="device-field">
          {t('Name')}
          <input
            value={name}
            required
            maxLength={100}
            pattern=".*\S.*"
            autocomplete="off"
            onInput={({ currentTarget }) => setDraft({ ...draft, name: currentTarget.value })}
          />
        </label>
        <button type="button" class="button" disabled={panels.length >= panelsMax} onClick={onAdd}>
          {t('Add a panel')}
        </button>
        <button type="submit" class="button strong" disabled={isBusy || panels.length === 0}>
          {t('Save')}
        </button>
        <button type="button" class="button" onClick={onDiscard}>
          {isNew ? t('Discard') : t('Discard changes')}
        </button>
      </form>
      {panels.length === 0 ? (
        <p class="none-here">{t('A dashboard has up to {count} panels. Add the first one.', { count: panelsMax })}</p>
      ) : null}
    </>
  )
}
