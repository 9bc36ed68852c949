/** The menu of saved views, in the header of every page, for who is signed in. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { isSignedIn } from '../client/session.ts'
import { lazy } from './lazy.tsx'

const SavedViews = lazy('list of views', () => import('./saved-views.tsx').then(module => module.SavedViews))

export function ViewsMenu() {
  const [isOpen, setIsOpen] = useState(false)
  if (!isSignedIn.value) return null
  return (
    <>
      <button type="button" class="button small" aria-haspopup="dialog" onClick={() => setIsOpen(true)}>
        Views
      </button>
      {isOpen ? <ViewsDialog onClose={() => setIsOpen(false)} /> : null}
    </>
  )
}

function ViewsDialog({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} class="views" aria-label="Saved views" onClose={onClose}>
      <h2>Saved views</h2>
      <SavedViews onShown={() => dialog.current?.close()} />
      <button type="button" class="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  )
}
