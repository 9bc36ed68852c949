/** A view that a link shows, without an account: the page alone, and nothing that leads elsewhere. */

import './shared.css'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import type { SharedView } from '../../auth/views/link.ts'
import { addressOf, path, showFixed } from '../client/address.ts'
import { dropLinks } from '../client/drop-links.ts'
import type { Failure } from '../client/read-json.ts'
import { lastValue, type ResourceState, retryDelayMs } from '../client/resource-state.ts'
import { routeOf } from '../client/routes.ts'
import { type SharedFace, sharedViewPath } from '../client/shared-view.ts'
import { useResource } from '../client/use-resource.ts'
import { pages } from '../pages.ts'
import { Banner, lazy, Skeleton } from '../parts/loading.tsx'
import { t } from '../words/words.ts'

/** A link that has ended, or whose view is another one now, shows so after this time at the latest. */
const everyMs = 60_000

dropLinks()

const Dashboard = lazy(t('dashboard'), () =>
  import('../pages/dashboard/dashboard.tsx').then(module => module.Dashboard),
)

export function SharedApp({ face }: { face: SharedFace }) {
  const state = useResource<SharedView>(addressOf(sharedViewPath), { everyMs })
  const view = lastValue(state)
  useEffect(() => document.body.classList.add('shared', face), [face])
  useEffect(() => view && showFixed(view.address), [view?.address])
  return (
    <>
      {face === 'embed' ? null : (
        <header>
          <p>Barograph</p>
          {view === undefined ? null : <p class="shared-name">{view.name}</p>}
        </header>
      )}
      <main id="main">
        <Shown state={state} />
      </main>
    </>
  )
}

function Shown({ state }: { state: ResourceState<SharedView> }) {
  if (state.kind === 'loading') return <Skeleton name={t('The view is loading')} />
  if (state.kind === 'failed') return <NotShown failure={state.failure} />
  const route = routeOf(path.value)
  if (route === undefined) return null
  if (state.value.panels) {
    return (
      <>
        <h1 class="unseen">{state.value.name}</h1>
        <Dashboard panels={state.value.panels} />
      </>
    )
  }
  const Page = pages[route.page] as ComponentType<typeof route>
  return <Page key={state.value.address} {...route} />
}

function NotShown({ failure }: { failure: Failure }) {
  return (
    <>
      <h1>{t('Shared view')}</h1>
      <Banner kind="bad">
        {failure.kind === 'signed-out' ? (
          t('This link is not valid: it has expired, it was revoked, or a part of it is missing.')
        ) : (
          <>
            {t('The view could not be loaded.')}{' '}
            {retryDelayMs(failure, 1) === undefined ? (
              <button type="button" class="button" onClick={() => location.reload()}>
                {t('Try again')}
              </button>
            ) : (
              t('The page goes on asking.')
            )}
          </>
        )}
      </Banner>
    </>
  )
}
