/** The saved views of the signed-in person, and a form that saves the present page's state. */

import './saved-views.css'
import { useState } from 'preact/hooks'
import type { View } from '../../auth/views/view.ts'
import { addressOf } from '../client/address.ts'
import { useRefreshed } from '../client/use-resource.ts'
import { createTimes } from '../text/times.ts'
import { t } from '../words/words.ts'
import { isForWall } from './for-wall.ts'
import { FailureBanner, Skeleton } from './loading.tsx'
import { RowButton } from './record.tsx'
import { type Actions, useActions } from './use-actions.tsx'
import { ViewLinks } from './view-links.tsx'

const api = '/v1/auth/me/views'

/** `address`: the page, where it can be saved. `onShown`: a view has been chosen. */
export function SavedViews({ address, onShown }: { address: string | undefined; onShown: () => void }) {
  const { state, refresh } = useRefreshed<View[]>(addressOf(api))
  const { actions, notice } = useActions(api, refresh)
  return (
    <>
      {notice}
      <p>
        <a class="button" href={addressOf('/dashboard/new')} onClick={onShown}>
          {t('New dashboard')}
        </a>
      </p>
      {address === undefined ? null : <SaveForm address={address} actions={actions} />}
      <FailureBanner state={state} timeText={createTimes('UTC').time} />
      {state.kind === 'loading' ? <Skeleton name={t('The list of views is loading')} rows={3} /> : null}
      {state.kind === 'ready' || state.kind === 'stale' ? (
        <List views={state.value} actions={actions} onShown={onShown} />
      ) : null}
    </>
  )
}

function SaveForm({ address, actions }: { address: string; actions: Actions }) {
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        const form = event.currentTarget
        const fields = new FormData(form)
        const name = String(fields.get('name')).trim()
        const body = { name, address, is_start: fields.has('start') }
        void actions
          .change('POST', '', body, t('Saved as “{name}”.', { name }))
          .then(saved => saved !== undefined && form.reset())
      }}
    >
      <label class="field">
        {t('Save what this page shows as')}
        <input name="name" required maxLength={100} pattern=".*\S.*" autocomplete="off" />
      </label>
      <label class="check">
        <input type="checkbox" name="start" />
        {t('My start page')}
      </label>
      <button type="submit" class="button strong" disabled={actions.isBusy}>
        {t('Save view')}
      </button>
    </form>
  )
}

interface ListProps {
  views: readonly View[]
  actions: Actions
  onShown: () => void
}

function List({ views, actions, onShown }: ListProps) {
  if (views.length === 0) return <p class="note">{t('You have saved no view yet.')}</p>
  return (
    <ul class="saved">
      {views.map(view => (
        <li key={view.id}>
          <Row view={view} actions={actions} onShown={onShown} />
        </li>
      ))}
    </ul>
  )
}

function Row({ view, actions, onShown }: Omit<ListProps, 'views'> & { view: View }) {
  const [isRenaming, setIsRenaming] = useState(false)
  const { id, name, address, is_start: isStart } = view
  const [isSharing, setIsSharing] = useState(false)
  if (isRenaming) return <RenameForm view={view} actions={actions} onClose={() => setIsRenaming(false)} />
  const change = (body: object, done: string) => void actions.change('PATCH', `/${id}`, body, done)
  return (
    <>
      <a href={addressOf(address)} onClick={onShown}>
        {name}
      </a>
      {isStart ? <span class="note"> {t('Start page')}</span> : null}
      <div class="actions">
        {isStart ? (
          <RowButton
            name={name}
            text={t('No start page')}
            onClick={() => change({ is_start: false }, t('The pages begin at the fleet.'))}
          />
        ) : (
          <RowButton
            name={name}
            text={t('Make start page')}
            onClick={() => change({ is_start: true }, t('The pages begin at “{name}”.', { name }))}
          />
        )}
        {isForWall(address) ? (
          <a class="button" href={addressOf(`/wall?view=${id}`)} target="_blank" rel="noreferrer">
            {t('Wall')}
            <span class="unseen"> {name}</span>
          </a>
        ) : null}
        <RowButton name={name} text={t('Links')} onClick={() => setIsSharing(!isSharing)} />
        <RowButton name={name} text={t('Rename')} onClick={() => setIsRenaming(true)} />
        <RowButton
          name={name}
          text={t('Remove')}
          onClick={() => void actions.change('DELETE', `/${id}`, undefined, t('“{name}” is removed.', { name }))}
        />
      </div>
      {isSharing ? <ViewLinks view={view} onClose={() => setIsSharing(false)} /> : null}
    </>
  )
}

function RenameForm({ view, actions, onClose }: { view: View; actions: Actions; onClose: () => void }) {
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        const name = String(new FormData(event.currentTarget).get('name')).trim()
        void actions
          .change('PATCH', `/${view.id}`, { name }, t('Renamed to “{name}”.', { name }))
          .then(renamed => renamed !== undefined && onClose())
      }}
    >
      <label class="field">
        {t('New name of {name}', { name: view.name })}
        <input name="name" required maxLength={100} pattern=".*\S.*" autocomplete="off" defaultValue={view.name} />
      </label>
      <div class="actions">
        <button type="submit" class="button strong" disabled={actions.isBusy}>
          {t('Rename')}
        </button>
        <button type="button" class="button" onClick={onClose}>
          {t('Cancel')}
        </button>
      </div>
    </form>
  )
}
