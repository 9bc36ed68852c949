/** A view that a link shows, without an account: the page alone, and nothing that leads elsewhere. */

import './shared.css'
import { type ComponentType, options } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { SharedView } from '../../auth/views/link.ts'
import { path } from '../client/address.ts'
import type { Failure } from '../client/read-json.ts'
import { routeOf } from '../client/routes.ts'
import { openSharedView } from '../client/shared-view.ts'
import { pages } from '../pages.ts'
import { Banner } from '../parts/banner.tsx'
import { Skeleton } from '../parts/skeleton.tsx'

/** Links of the pages lead to what the link does not show: they stay as text. */
function dropLinks(): void {
  const before = options.vnode
  options.vnode = node => {
    if (node.type === 'a') Reflect.deleteProperty(node.props as object, 'href')
    before?.(node)
  }
}

dropLinks()

export function SharedApp() {
  const [shown, setShown] = useState<SharedView | Failure>()
  useEffect(() => {
    document.body.classList.add('shared')
    void openSharedView().then(setShown)
  }, [])
  return (
    <>
      <header>
        <p>Barograph</p>
        {shown !== undefined && 'address' in shown ? <p class="shared-name">{shown.name}</p> : null}
      </header>
      <main id="main">
        <Shown view={shown} />
      </main>
    </>
  )
}

function Shown({ view }: { view: SharedView | Failure | undefined }) {
  if (view === undefined) return <Skeleton name="The view is loading" />
  if (!('address' in view)) return <NotShown failure={view} />
  const route = routeOf(path.value)
  if (route === undefined) return null
  const Page = pages[route.page] as ComponentType<typeof route>
  return <Page {...route} />
}

function NotShown({ failure }: { failure: Failure }) {
  return (
    <>
      <h1>Shared view</h1>
      <Banner kind="bad">
        {failure.kind === 'signed-out'
          ? 'This link is not valid: it has expired, it was revoked, or a part of it is missing.'
          : 'The view could not be loaded.'}{' '}
        {failure.kind === 'signed-out' ? null : (
          <button type="button" class="button" onClick={() => location.reload()}>
            Try again
          </button>
        )}
      </Banner>
    </>
  )
}
