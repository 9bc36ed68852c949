/** The buttons Share and Views in the header of every page, for a person who is signed in. */

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { path, urlArguments } from '../client/address.ts'
import { routeOf } from '../client/routes.ts'
import { isSignedIn } from '../client/session.ts'
import { t } from '../words/words.ts'
import { lazy } from './loading.tsx'

const SavedViews = lazy(t('list of views'), () => import('./saved-views.tsx').then(module => module.SavedViews))
const SharePage = lazy(t('form for a link'), () => import('./view-links.tsx').then(module => module.SharePage))

export function ViewsMenu() {
  const [open, setOpen] = useState<'share' | 'views'>()
  const address = shownAddress()
  const page = routeOf(path.value)?.page
  // A link cannot show a station.
  const canShare = address !== undefined && page !== 'station'
  if (!isSignedIn.value) return null
  const close = () => setOpen(undefined)
  return (
    <>
      {canShare ? <MenuButton name={t('Share')} onClick={() => setOpen('share')} /> : null}
      <MenuButton name={t('Views')} onClick={() => setOpen('views')} />
      {open === 'share' && address !== undefined ? (
        <MenuDialog title={t('Share this page')} onClose={close}>
          {() => <SharePage address={address} />}
        </MenuDialog>
      ) : null}
      {open === 'views' ? (
        <MenuDialog title={t('Saved views')} onClose={close}>
          {onShown => <SavedViews address={page === 'dashboard' ? undefined : address} onShown={onShown} />}
        </MenuDialog>
      ) : null}
    </>
  )
}

/** Path and query of the page; undefined where it shows no data of choice. */
function shownAddress(): string | undefined {
  const route = routeOf(path.value)
  if (route === undefined || route.page === 'admin' || route.page === 'alerts') return undefined
  if (route.page === 'dashboard') return route.id === 'new' ? undefined : path.value
  const query = urlArguments.value.toString()
  return `${path.value}${query === '' ? '' : `?${query}`}`
}

function MenuButton({ name, onClick }: { name: string; onClick: () => void }) {
  return (
    <button type="button" class="button small" aria-haspopup="dialog" onClick={onClick}>
      {name}
    </button>
  )
}

interface MenuDialogProps {
  title: string
  onClose: () => void
  children: (close: () => void) => ComponentChildren
}

function MenuDialog({ title, onClose, children }: MenuDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  const close = () => dialog.current?.close()
  return (
    <dialog ref={dialog} class="views" aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      {children(close)}
      <button type="button" class="button" onClick={close}>
        {t('Close')}
      </button>
    </dialog>
  )
}
